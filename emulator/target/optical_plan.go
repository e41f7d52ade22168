package target

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// plan implements front. A connection that the request did not name is not disturbed: one that wants
// its ports is refused.
func (f *opticalFront) plan(t *tree, touched []schema.Path) (*southbound.Change, func(), error) {
	if err := f.checkSwitch(t); err != nil {
		return nil, nil, err
	}
	named, err := f.named(t, touched)
	rows := f.sonic.keys(touched)
	if err == nil && len(rows) > 0 {
		var second []naming
		if second, err = f.rows(t, rows); err == nil && len(named) > 0 {
			err = agree(named, second)
		} else {
			named = second
		}
	}
	if err != nil {
		return nil, nil, err
	}
	next := maps.Clone(f.config)
	names := make([]string, 0, len(named))
	for _, n := range named {
		names = append(names, n.name)
		delete(next, n.name)
	}
	for _, n := range named {
		if n.on {
			next[n.name] = n.ends
		}
	}
	if err := checkBusy(next); err != nil {
		return nil, nil, err
	}
	c := f.change(names, next)
	f.dropHidden(c, names, next, f.sonic.whole(touched))
	return c, func() {
		f.done(t, names, next)
		showPortConfig(t)
	}, nil
}

// showPortConfig repeats what ports were configured with in their state.
func showPortConfig(t *tree) {
	for _, e := range netEdits(t.edits) {
		if len(e.path) == 5 && e.path[0].Name == "components" && e.path[3].Name == "config" &&
			e.path[4].Name != "enabled" {
			t.put(e.path[:3].With("state", e.path[4].Name), e.new)
		}
	}
}

// dropHidden removes circuits that exist without being configured, if a request deletes them by name
// or, with whole, replaces everything.
func (f *opticalFront) dropHidden(c *southbound.Change, names []string, next map[string]ends, whole bool) {
	wanted := make(map[ends]bool, len(next))
	for _, e := range next {
		wanted[e] = true
	}
	named := make(map[southbound.Port]bool, len(c.Connect))
	for _, x := range c.Connect {
		named[x.In] = true
	}
	for in := range southbound.Port(f.cfg.Ports) {
		e, stands := f.byIn[in]
		if !stands || wanted[e] || named[in] || f.status[e] == southbound.PendingDeletion {
			continue
		}
		if whole || slices.Contains(names, f.names[e]) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: in, Off: true})
		}
	}
}

// agree holds what a request says in both models against each other.
func agree(named, rows []naming) error {
	on := map[ends]bool{}
	for _, n := range named {
		if n.on {
			on[n.ends] = true
		}
	}
	count := 0
	for _, r := range rows {
		if r.on != on[r.ends] {
			return unsupported("one request names %d→%d both as a port-connection and as a cross-connect, and differently", r.in,
				r.out)
		}
		if r.on {
			count++
		}
	}
	if count != len(on) {
		return unsupported("one request names circuits in both models, and not the same ones")
	}
	return nil
}

// naming is what a request makes of one connection.
type naming struct {
	name string
	ends
	on bool
}

// named reads the connections that a request has named, sorted by name.
func (f *opticalFront) named(t *tree, touched []schema.Path) ([]naming, error) {
	var names []string
	for _, p := range touched {
		if len(p) > 1 && p[0].Name == "connections" && p[1].Name == "port-connection" && p[1].Key("name") != "" {
			names = append(names, p[1].Key("name"))
		}
	}
	slices.Sort(names)
	var out []naming
	for _, name := range slices.Compact(names) {
		c, on, err := f.connection(t, name)
		if err != nil {
			return nil, err
		}
		out = append(out, naming{name, c, on})
	}
	return out, nil
}

// rows reads the rows of SONiC's table that a request has named, as connections under the names they have.
func (f *opticalFront) rows(t *tree, keys []string) ([]naming, error) {
	byEnds := make(map[ends]string, len(f.config))
	for name, c := range f.config {
		byEnds[c] = name
	}
	var out []naming
	for _, key := range keys {
		c, on, err := f.sonic.read(t, key)
		if err != nil {
			return nil, err
		}
		if !on {
			c.in, c.out, _ = gnmi.CrossConnectNamed(key)
		}
		name := cmp.Or(byEnds[c], gnmi.ConnectionName(c.in, c.out))
		if old, taken := f.config[name]; taken && old != c {
			return nil, refused("cross-connect %q: the name %q is another port-connection's: delete that first", key, name)
		}
		out = append(out, naming{name, c, on})
	}
	return out, nil
}

func (f *opticalFront) checkSwitch(t *tree) error {
	if t.get(path("optical-switch", "config", "bidirectional")) == true {
		return unsupported("bidirectional: this switch's circuits are directed")
	}
	if mode := t.get(path("optical-switch", "config", "cold-boot-recovery")); mode != nil &&
		mode != f.cfg.Recovery.String() {
		return unsupported("cold-boot-recovery %v: this switch does %v", mode, f.cfg.Recovery)
	}
	for _, e := range netEdits(t.edits) {
		if err := f.sonic.checkPort(e); err != nil {
			return err
		}
		if len(e.path) < 5 || e.path[0].Name != "components" || !isConfig(e.node) {
			continue
		}
		name := e.path[1].Key("name")
		in, isIn := gnmi.InputNamed(name)
		out, isOut := gnmi.OutputNamed(name)
		switch {
		case !isIn && !isOut || int32(max(in, out)) >= f.cfg.Ports:
			return refused("component %q: ports are in0 to in%d and out0 to out%d", name, f.cfg.Ports-1,
				f.cfg.Ports-1)
		case e.path[4].Name == "enabled" && e.new == false:
			return unsupported("component %q: this switch's ports cannot be disabled", name)
		}
	}
	return nil
}

// connection reads one connection's configuration; false if it has none.
func (f *opticalFront) connection(t *tree, name string) (ends, bool, error) {
	at := gnmi.ConnectionPath(name).With("config")
	if !t.exists(at) {
		return ends{}, false, nil
	}
	in, out := t.get(at.With("input-port-name")), t.get(at.With("output-port-name"))
	if in == nil || out == nil {
		return ends{}, false, refused("port-connection %q: it needs both input-port-name and output-port-name", name)
	}
	i, iok := gnmi.InputNamed(fmt.Sprint(in))
	o, ook := gnmi.OutputNamed(fmt.Sprint(out))
	if !iok || !ook || int32(i) >= f.cfg.Ports || int32(o) >= f.cfg.Ports {
		return ends{}, false, refused("port-connection %q: ports %v and %v: inputs are in0 to in%d, outputs out0 to out%d",
			name, in, out, f.cfg.Ports-1, f.cfg.Ports-1)
	}
	return ends{i, o}, true, nil
}

// checkBusy finds ports that two connections want.
func checkBusy(next map[string]ends) error {
	names := make([]string, 0, len(next))
	for name := range next {
		names = append(names, name)
	}
	slices.Sort(names)
	ins, outs := map[southbound.Port]string{}, map[southbound.Port]string{}
	for _, name := range names {
		c := next[name]
		if other, busy := ins[c.in]; busy {
			return refused("port-connection %q: input in%d is held by %q: delete that first", name, c.in, other)
		}
		if other, busy := outs[c.out]; busy {
			return refused("port-connection %q: output out%d is held by %q: delete that first", name, c.out, other)
		}
		ins[c.in], outs[c.out] = name, name
	}
	return nil
}

// change returns what to ask of the device: circuits that were named and stand, also those that did
// before, which the device leaves as they are or, where they failed, tries again.
func (f *opticalFront) change(names []string, next map[string]ends) *southbound.Change {
	c := &southbound.Change{}
	on := map[southbound.Port]bool{}
	for _, name := range names {
		if e, ok := next[name]; ok {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: e.in, Out: e.out})
			on[e.in] = true
		}
	}
	for _, name := range names {
		old, had := f.config[name]
		if _, still := next[name]; had && !on[old.in] && (!still || next[name] != old) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: old.in, Off: true})
		}
	}
	return c
}

// done makes the plan the configuration. A circuit that goes on under another name takes its state with it.
func (f *opticalFront) done(t *tree, names []string, next map[string]ends) {
	f.mirror(t, names, next)
	f.config = next
	for _, name := range names {
		c, ok := next[name]
		if !ok {
			continue
		}
		old := f.names[c]
		f.names[c] = name
		if _, stands := f.status[c]; old != "" && old != name && stands {
			at := t.get(gnmi.ConnectionPath(old).With("state", "last-updated"))
			t.remove(gnmi.ConnectionPath(old), isState)
			f.showConnection(t, 0, c, name)
			t.put(gnmi.ConnectionPath(name).With("state", "last-updated"), at)
		}
	}
}

// mirror brings both views' configurations to the plan, whichever of them the request was made in.
func (f *opticalFront) mirror(t *tree, names []string, next map[string]ends) {
	if f.sonic == nil {
		return
	}
	for _, name := range names {
		if old, had := f.config[name]; had && next[name] != old {
			f.sonic.row(t, old, false)
		}
	}
	for _, name := range names {
		c, on := next[name]
		if !on {
			t.remove(gnmi.ConnectionPath(name), isConfig)
			continue
		}
		f.sonic.row(t, c, true)
		for _, l := range gnmi.ConnectionLeaves(name, c.in, c.out) {
			t.put(l.Path, l.Value)
		}
	}
}
