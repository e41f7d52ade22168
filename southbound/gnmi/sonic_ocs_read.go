package gnmi

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// crossDecoder joins two tables: the configuration and its state. A row with a state that is no longer configured is
// pending deletion; a configured row without a state yet is not reported.
type crossDecoder struct {
	p      SONiCOCS
	config map[string]bool
	names  map[string]pair
	state  map[string]southbound.Status
	told   map[string]southbound.Status
}

// NewDecoder implements Profile.
func (p SONiCOCS) NewDecoder() Decoder { return p.newDecoder() }

func (p SONiCOCS) newDecoder() *crossDecoder {
	return &crossDecoder{p: p, config: map[string]bool{}, names: map[string]pair{},
		state: map[string]southbound.Status{}, told: map[string]southbound.Status{}}
}

// crossStatus is the meaning of a state. A blocked port passes no light, and may yet be tuned.
func crossStatus(v schema.Value) (southbound.Status, bool) {
	switch v {
	case "blocked", "tuning":
		return southbound.PendingConnection, true
	case "tuned":
		return southbound.Connected, true
	case "failed":
		return southbound.Failed, true
	}
	return 0, false
}

// Decode implements Decoder.
func (d *crossDecoder) Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error) {
	touched := d.remove(gone)
	rows, _ := d.p.rows(leaves)
	for key, h := range rows {
		d.names[key] = h
	}
	config, state := d.p.ConnectTable(), d.p.ConnectStateTable()
	for _, l := range leaves {
		if key, _, ok := cell(config, l.Path); ok {
			d.config[key] = true
			touched = append(touched, key)
		}
		key, field, ok := cell(state, l.Path)
		if !ok || field != d.p.tables().ConnectStatus {
			continue
		}
		s, ok := crossStatus(l.Value)
		if !ok {
			return nil, fmt.Errorf("read cross-connect %q: status %v is unknown", key, l.Value)
		}
		d.state[key] = s
		touched = append(touched, key)
	}
	return d.tell(touched)
}

// remove takes rows away that lie under the deleted paths, and returns their keys.
func (d *crossDecoder) remove(gone []schema.Path) (touched []string) {
	config, state := d.p.ConnectTable(), d.p.ConnectStateTable()
	for _, g := range gone {
		for key := range d.config {
			if g.Match(row(config, key).With("a_side")) {
				delete(d.config, key)
				touched = append(touched, key)
			}
		}
		for key := range d.state {
			if g.Match(row(state, key).With(d.p.tables().ConnectStatus)) {
				delete(d.state, key)
				touched = append(touched, key)
			}
		}
	}
	return touched
}

// tell returns what is new of these rows, by input, deletions first: what a port is freed of comes before what it is
// given to.
func (d *crossDecoder) tell(touched []string) ([]southbound.DeviceEvent, error) {
	var out []southbound.DeviceEvent
	slices.Sort(touched)
	for _, key := range slices.Compact(touched) {
		s, stands := d.state[key]
		if stands && !d.config[key] {
			s = southbound.PendingDeletion
		}
		old, told := d.told[key]
		if stands == told && s == old {
			continue
		}
		h, err := d.pairOf(key)
		if err != nil {
			return nil, err
		}
		if stands {
			d.told[key] = s
		} else {
			s = southbound.Disconnected
			delete(d.told, key)
		}
		out = append(out, southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: h.in, Out: h.out, Status: s})
	}
	slices.SortStableFunc(out, func(a, b southbound.DeviceEvent) int {
		return cmp.Or(cmp.Compare(b2i(leaving(b.Status)), b2i(leaving(a.Status))), cmp.Compare(a.In, b.In),
			cmp.Compare(a.Out, b.Out))
	})
	return out, nil
}

func leaving(s southbound.Status) bool {
	return s == southbound.PendingDeletion || s == southbound.Disconnected
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (d *crossDecoder) pairOf(key string) (pair, error) {
	h, ok := d.names[key]
	if !ok {
		h.in, h.out, ok = CrossConnectNamed(key)
	}
	if !ok {
		return pair{}, fmt.Errorf("read cross-connect %q: its ports are not known", key)
	}
	return h, known(h, d.p.Ports, "cross-connect", key)
}
