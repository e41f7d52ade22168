package target

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// pairFront shows an OCS as Polatis' model does: a list of pairs, without states. A pair is listed
// while light passes, and a Set answers when the mirrors stand; so what is listed is connected.
type pairFront struct {
	p      gnmi.Polatis
	wanted map[southbound.Port]southbound.Port
	status map[ends]southbound.Status
}

func newPairFront(c device.Config) *pairFront { return &pairFront{p: gnmi.Polatis{Ports: c.Ports}} }

func (f *pairFront) model() *schema.Model { return f.p.Model() }

func (f *pairFront) load(t *tree, now time.Duration, dev Switch) {
	f.wanted, f.status = map[southbound.Port]southbound.Port{}, map[ends]southbound.Status{}
	for _, c := range dev.Accepted().Connect {
		f.wanted[c.In] = c.Out
	}
	for _, c := range dev.Seen(now).Connections {
		f.event(t, southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: c.In, Out: c.Out,
			Status: c.Status})
	}
}

func (f *pairFront) applied(*tree, device.Applied) {}

func (f *pairFront) counters(*tree, reading) {}

func (f *pairFront) event(t *tree, e southbound.DeviceEvent) {
	if e.Kind != southbound.ConnectionStatus {
		return
	}
	c := ends{e.In, e.Out}
	if e.Status == southbound.Disconnected {
		delete(f.status, c)
	} else {
		f.status[c] = e.Status
	}
	f.show(t, e.In)
}

// show lists an input's pair if light passes.
func (f *pairFront) show(t *tree, in southbound.Port) {
	var listed []schema.Leaf
	for c, s := range f.status { // one at most is lit
		if c.in == in && s == southbound.Connected {
			listed = f.p.PairLeaves(c.in, c.out)
		}
	}
	if listed == nil {
		t.remove(f.p.PairPath(in), isConfig)
	}
	for _, l := range listed {
		t.put(l.Path, l.Value)
	}
}

// settled implements settler.
func (f *pairFront) settled() bool {
	for in, out := range f.wanted {
		switch f.status[ends{in, out}] {
		case southbound.Connected, southbound.Failed, southbound.Invalid:
		default:
			return false
		}
	}
	for c := range f.status {
		if out, wanted := f.wanted[c.in]; (!wanted || out != c.out) &&
			f.status[c] == southbound.PendingDeletion {
			return false
		}
	}
	return true
}

// plan implements front. A pair that the request did not name is not disturbed.
func (f *pairFront) plan(t *tree, touched []schema.Path) (*southbound.Change, func(), error) {
	named := map[southbound.Port]bool{}
	for _, p := range touched {
		if len(p) < 2 {
			continue
		}
		in, ok := f.ingress(p[1].Key("ingress"))
		if !ok {
			return nil, nil, refused("pair %q: ingress ports are 1 to %d", p[1].Key("ingress"), f.p.Ports)
		}
		named[in] = true
	}
	next := maps.Clone(f.wanted)
	if slices.ContainsFunc(touched, func(p schema.Path) bool { return len(p) == 1 }) { // the whole list was given
		for in := range next {
			named[in] = true
		}
	}
	c := &southbound.Change{}
	for _, in := range slices.Sorted(maps.Keys(named)) {
		out, on, err := f.pair(t, in)
		if err != nil {
			return nil, nil, err
		}
		delete(next, in)
		if on {
			next[in] = out
		}
		c.Connect = append(c.Connect, southbound.CrossConnect{In: in, Out: out, Off: !on})
	}
	if err := f.checkBusy(next); err != nil {
		return nil, nil, err
	}
	return c, func() {
		f.wanted = next
		for _, x := range c.Connect {
			if f.status[ends{x.In, x.Out}] == southbound.Failed { // asked for again
				delete(f.status, ends{x.In, x.Out})
			}
			f.show(t, x.In)
		}
	}, nil
}

func (f *pairFront) ingress(text string) (southbound.Port, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return southbound.Port(n) - 1, err == nil && n >= 1 && n <= uint64(f.p.Ports) &&
		strconv.FormatUint(n, 10) == text
}

// pair reads what the configuration has for an input.
func (f *pairFront) pair(t *tree, in southbound.Port) (southbound.Port, bool, error) {
	at := f.p.PairPath(in)
	if !t.exists(at) {
		return southbound.NoPort, false, nil
	}
	egress, ok := t.get(at.With("egress")).(uint64)
	switch {
	case !ok:
		return 0, false, refused("pair %d: it needs an egress", in+1)
	case egress <= uint64(f.p.Ports) || egress > 2*uint64(f.p.Ports):
		return 0, false, refused("pair %d: egress %d: egress ports are %d to %d", in+1, egress,
			f.p.Ports+1, 2*f.p.Ports)
	}
	return southbound.Port(egress) - 1 - southbound.Port(f.p.Ports), true, nil
}

func (f *pairFront) checkBusy(next map[southbound.Port]southbound.Port) error {
	byOut := map[southbound.Port]southbound.Port{}
	for _, in := range slices.Sorted(maps.Keys(next)) {
		out := next[in]
		if other, busy := byOut[out]; busy {
			return refused("pair %d: egress %d is held by ingress %d: delete that first", in+1,
				out+1+southbound.Port(f.p.Ports),
				other+1)
		}
		byOut[out] = in
	}
	return nil
}
