package target

import (
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// sonicView shows the circuits of an OCS a second time, as the tables of SONiC's databases. A nil view
// shows nothing.
type sonicView struct {
	p     gnmi.SONiCOCS
	table schema.OCSTables
}

func newSONiCView(ports int32, t schema.OCSTables) *sonicView {
	return &sonicView{p: gnmi.SONiCOCS{Ports: ports, Tables: t}, table: t}
}

// entry returns the path of a row.
func entry(table schema.Path, key string) schema.Path {
	last := len(table) - 1
	return table[:last].Entry(table[last].Name, "key", key)
}

// portWord is the word for the status of a port. What is about to be deleted is still tuned.
func (v *sonicView) portWord(s southbound.Status) string {
	switch s {
	case southbound.PendingConnection:
		return "tuning"
	case southbound.Connected, southbound.PendingDeletion:
		if v.table.Status != "" {
			return "connected"
		}
		return "tuned"
	case southbound.Failed:
		return "failed"
	}
	return "blocked"
}

// rowWord is the word for the status of a cross-connect, in a variant that has one for the whole.
func rowWord(s southbound.Status) string {
	switch s {
	case southbound.Connected, southbound.PendingDeletion:
		return "enabled"
	case southbound.Invalid:
		return "invalid"
	}
	return "disabled"
}

// row writes the configuration of a circuit, or takes it away.
func (v *sonicView) row(t *tree, c ends, on bool) {
	if v == nil {
		return
	}
	for _, l := range v.p.ConnectLeaves(c.in, c.out) {
		if on {
			t.put(l.Path, l.Value)
		} else {
			t.put(l.Path, nil)
		}
	}
}

// connection writes the state of a circuit; Disconnected takes it away.
func (v *sonicView) connection(t *tree, c ends, s southbound.Status) {
	if v == nil {
		return
	}
	at := entry(v.p.ConnectStateTable(), gnmi.CrossConnectID(c.in, c.out))
	put := func(field string, x schema.Value) {
		if s == southbound.Disconnected {
			x = nil
		}
		t.put(at.With(field), x)
	}
	if v.table.Status != "" {
		put(v.table.Status, rowWord(s))
		put("insertion_loss_dB", t.get(at.With("insertion_loss_dB")))
		return
	}
	put("a_side", gnmi.ASide(c.in))
	put("b_side", gnmi.BSide(c.out))
	put(v.table.Sides[0], v.portWord(s))
	put(v.table.Sides[1], v.portWord(s))
}

// port writes the state of both names of a port: peer is NoPort where it has no circuit.
func (v *sonicView) port(t *tree, input bool, p, peer southbound.Port, s southbound.Status) {
	if v == nil {
		return
	}
	id, peerID := gnmi.ASide(p), gnmi.BSide(peer)
	if !input {
		id, peerID = gnmi.BSide(p), gnmi.ASide(peer)
	}
	at := entry(v.p.PortStateTable(), id)
	t.put(at.With(v.table.PortStatus), v.portWord(s))
	if peer == southbound.NoPort {
		t.put(at.With("target_simplex_port_id"), nil)
		return
	}
	t.put(at.With("target_simplex_port_id"), peerID)
}

// loss writes a circuit's insertion loss.
func (v *sonicView) loss(t *tree, c ends, dB string) {
	if v != nil && v.table.Status != "" {
		t.put(entry(v.p.ConnectStateTable(), gnmi.CrossConnectID(c.in, c.out)).With("insertion_loss_dB"), dB)
	}
}

// maxFactory is how many ports a switch has at most that shows what its circuits lost when it was made.
const maxFactory = 64

// factory writes what each circuit lost when the switch was made, at one frequency and temperature.
func (v *sonicView) factory(t *tree) {
	if v == nil || v.p.Ports > maxFactory {
		return
	}
	for in := range southbound.Port(v.p.Ports) {
		for out := range southbound.Port(v.p.Ports) {
			at := entry(v.p.FactoryTable(), gnmi.CrossConnectID(in, out)+"|193.100|25.00")
			t.put(at.With("loss_dB"), decibels(lossAlways))
			t.put(at.With("accuracy_dB"), "0.10")
		}
	}
}

// keys returns the rows of cross-connects that a request has named, sorted.
func (v *sonicView) keys(touched []schema.Path) []string {
	if v == nil {
		return nil
	}
	var out []string
	table := v.p.ConnectTable()
	for _, p := range touched {
		if table.Match(p) && p[len(table)-1].Key("key") != "" {
			out = append(out, p[len(table)-1].Key("key"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// whole reports whether a request has given the whole table.
func (v *sonicView) whole(touched []schema.Path) bool {
	if v == nil {
		return false
	}
	table := v.p.ConnectTable().String()
	return slices.ContainsFunc(touched, func(p schema.Path) bool { return p.String() == table })
}

// read reads a row's configuration; false if it has none.
func (v *sonicView) read(t *tree, key string) (ends, bool, error) {
	at := entry(v.p.ConnectTable(), key)
	if !t.exists(at) {
		return ends{}, false, nil
	}
	a, _ := t.get(at.With("a_side")).(string)
	b, _ := t.get(at.With("b_side")).(string)
	in, iok := gnmi.ASideNamed(a)
	out, ook := gnmi.BSideNamed(b)
	if !iok || !ook || int32(in) >= v.p.Ports || int32(out) >= v.p.Ports {
		return ends{}, false, refused("cross-connect %q: sides %q and %q: write 1A to %dA and 1B to %dB", key, a, b,
			v.p.Ports, v.p.Ports)
	}
	if want := gnmi.CrossConnectID(in, out); key != want {
		return ends{}, false, refused("cross-connect %q: a circuit from %s to %s is the row %q", key, a, b, want)
	}
	return ends{in, out}, true, nil
}

// checkPort checks an edit of the table of ports.
func (v *sonicView) checkPort(e edit) error {
	if v == nil || len(e.path) < 4 || e.path[0].Name != "CONFIG_DB" || e.path[2].Name != v.table.Ports {
		return nil
	}
	id := e.path[2].Key("key")
	in, isIn := gnmi.ASideNamed(id)
	out, isOut := gnmi.BSideNamed(id)
	switch {
	case !isIn && !isOut || int32(max(in, out)) >= v.p.Ports:
		return refused("port %q: ports are 1A to %dA and 1B to %dB", id, v.p.Ports, v.p.Ports)
	case e.path[3].Name == v.table.Override && e.new != nil && e.new != "normal":
		return unsupported("port %q: this switch's ports cannot be blocked", id)
	}
	return nil
}
