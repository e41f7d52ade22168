package gnmi

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// crossDecoder joins the tables: the configuration, its state and, where a cross-connect's own status
// does not say why it passes no light, that of its ports. A row with a state that is no longer
// configured is pending deletion; a configured row without a state yet is not reported.
type crossDecoder struct {
	p      SONiCOCS
	config map[string]bool
	names  map[string]pair
	state  map[string][2]string // by row: its status, or that of both sides
	ports  map[string]string    // by simplex port
	told   map[string]southbound.Status
}

// NewDecoder implements Profile.
func (p SONiCOCS) NewDecoder() Decoder { return p.newDecoder() }

func (p SONiCOCS) newDecoder() *crossDecoder {
	return &crossDecoder{p: p, config: map[string]bool{}, names: map[string]pair{},
		state: map[string][2]string{},
		ports: map[string]string{}, told: map[string]southbound.Status{}}
}

// status is what a row's state means. A blocked port passes no light, and may yet be tuned.
func (d *crossDecoder) status(key string) southbound.Status {
	s := d.state[key]
	if d.p.tables().Status == "" {
		switch {
		case s[0] == "failed" || s[1] == "failed":
			return southbound.Failed
		case s[0] == "tuned" && s[1] == "tuned":
			return southbound.Connected
		}
		return southbound.PendingConnection
	}
	h, err := d.pairOf(key)
	switch {
	case s[0] == "enabled":
		return southbound.Connected
	case s[0] == "invalid":
		return southbound.Invalid
	case err == nil && (d.ports[ASide(h.in)] == "failed" || d.ports[BSide(h.out)] == "failed"):
		return southbound.Failed
	}
	return southbound.PendingConnection
}

// Decode implements Decoder.
func (d *crossDecoder) Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error) {
	touched := d.remove(gone)
	rows, _ := d.p.rows(leaves)
	for key, h := range rows {
		d.names[key] = h
	}
	config, state, ports, t := d.p.ConnectTable(), d.p.ConnectStateTable(), d.p.PortStateTable(), d.p.tables()
	changed := map[string]bool{}
	for _, l := range leaves {
		text, _ := l.Value.(string)
		if key, _, ok := cell(config, l.Path); ok {
			d.config[key] = true
			touched = append(touched, key)
		}
		if id, field, ok := cell(ports, l.Path); ok && field == t.PortStatus && d.ports[id] != text {
			d.ports[id], changed[id] = text, true
		}
		key, field, ok := cell(state, l.Path)
		s, side := d.state[key], -1
		switch {
		case !ok:
			continue
		case field == cmp.Or(t.Status, t.Sides[0]):
			side = 0
		case field == t.Sides[1]:
			side = 1
		default:
			continue
		}
		s[side] = text
		d.state[key] = s
		touched = append(touched, key)
	}
	return d.events(append(touched, d.rowsOf(changed)...))
}

// rowsOf returns the rows with a state whose ports have changed.
func (d *crossDecoder) rowsOf(ports map[string]bool) (keys []string) {
	if len(ports) == 0 || d.p.tables().Status == "" {
		return nil
	}
	for key := range d.state {
		if h, err := d.pairOf(key); err == nil && (ports[ASide(h.in)] || ports[BSide(h.out)]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// remove takes rows away that lie under the deleted paths, and returns their keys.
func (d *crossDecoder) remove(gone []schema.Path) (touched []string) {
	config, state, t := d.p.ConnectTable(), d.p.ConnectStateTable(), d.p.tables()
	for _, g := range gone {
		for key := range d.config {
			if g.Match(row(config, key).With("a_side")) {
				delete(d.config, key)
				touched = append(touched, key)
			}
		}
		for key := range d.state {
			if g.Match(row(state, key).With(cmp.Or(t.Status, t.Sides[0]))) {
				delete(d.state, key)
				touched = append(touched, key)
			}
		}
	}
	return touched
}

// events returns what is new of these rows, by input, deletions first: what a port is freed of comes
// before what it is given to.
func (d *crossDecoder) events(touched []string) ([]southbound.DeviceEvent, error) {
	var out []southbound.DeviceEvent
	slices.Sort(touched)
	for _, key := range slices.Compact(touched) {
		_, stands := d.state[key]
		s := d.status(key)
		if stands && !d.config[key] {
			s = southbound.PendingDeletion
		}
		old, told := d.told[key]
		if stands == told && (s == old || !stands) {
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
		out = append(out, southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: h.in,
			Out: h.out, Status: s})
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
