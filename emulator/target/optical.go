package target

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// opticalFront shows an OCS as the Open Compute model describes it and, beside that, as SONiC does.
type opticalFront struct {
	wall
	cfg    device.Config
	sonic  *sonicView
	config map[string]ends // by name, as configured
	names  map[ends]string // under which the state of a circuit stands
	status map[ends]southbound.Status
	byIn   map[southbound.Port]ends // the circuit that a port belongs to
	byOut  map[southbound.Port]ends
	losses map[southbound.Port]device.CentiBel // of inputs, beyond what is always lost
}

type ends struct{ in, out southbound.Port }

// What the emulated switch says of optical power, in dBm: every transceiver sends at 0, and 1.5 dB are lost on the way,
// the typical insertion loss of a MEMS switch.
const (
	powerIn                    = "0.00"
	powerNone                  = "-40.00"
	lossAlways device.CentiBel = 150
)

func newOpticalFront(c device.Config, w wall, sonic bool) *opticalFront {
	f := &opticalFront{wall: w, cfg: c}
	if sonic {
		f.sonic = newSONiCView(c.Ports)
	}
	return f
}

func (f *opticalFront) model() *schema.Model {
	if f.sonic == nil {
		return schema.OCP()
	}
	return schema.Join("ocp", schema.OCP(), f.sonic.p.Model())
}

func portPath(name string) schema.Path {
	return path("components").Entry("component", "name", name).With("ocp-ocs-port")
}

func (f *opticalFront) load(t *tree, now time.Duration, dev *device.Device) {
	f.config, f.names, f.status = map[string]ends{}, map[ends]string{}, map[ends]southbound.Status{}
	f.byIn, f.byOut = map[southbound.Port]ends{}, map[southbound.Port]ends{}
	for _, where := range []string{"config", "state"} {
		t.put(path("optical-switch", where, "bidirectional"), false)
		t.put(path("optical-switch", where, "cold-boot-recovery"), f.cfg.Recovery.String())
	}
	t.put(path("optical-switch", "state", "connection-recovery-capability"), []schema.Value{f.cfg.Recovery.String()})
	f.groups(t)
	for i := range southbound.Port(f.cfg.Ports) {
		f.portState(t, i, true)
		f.portState(t, i, false)
	}
	for _, c := range dev.Accepted().Connect {
		name := gnmi.ConnectionName(c.In, c.Out)
		f.config[name], f.names[ends{c.In, c.Out}] = ends{c.In, c.Out}, name
		for _, l := range gnmi.ConnectionLeaves(name, c.In, c.Out) {
			t.put(l.Path, l.Value)
		}
		f.sonic.row(t, ends{c.In, c.Out}, true)
	}
	for _, c := range dev.Seen(now).Connections {
		f.event(t, southbound.DeviceEvent{At: now, Kind: southbound.ConnectionStatus, In: c.In, Out: c.Out, Status: c.Status})
	}
	t.put(path("connections", "last-change-time"), f.nanos(now))
}

func (f *opticalFront) groups(t *tree) {
	for _, g := range [][3]string{{"inputs", "INPUT-ONLY", "outputs"}, {"outputs", "OUTPUT-ONLY", "inputs"}} {
		at := path("optical-switch", "state").Entry("port-groups", "name", g[0])
		t.put(at.With("direction"), g[1])
		t.put(at.Entry("connection-groups", "peer-name", g[2]).With("peer-name"), g[2])
	}
}

func (f *opticalFront) portState(t *tree, p southbound.Port, input bool) {
	at, group := portPath(gnmi.InputName(p)), "inputs"
	if !input {
		at, group = portPath(gnmi.OutputName(p)), "outputs"
	}
	t.put(at.With("config", "enabled"), true)
	t.put(at.With("state", "group"), group)
	t.put(at.With("state", "index"), uint64(p))
	f.showPort(t, p, southbound.NoPort, input, southbound.Disconnected)
}

// portStatus is what a port says of itself while its circuit has that status.
func portStatus(s southbound.Status) string {
	switch s {
	case southbound.PendingConnection:
		return "TUNING"
	case southbound.Connected, southbound.PendingDeletion:
		return "TUNED"
	case southbound.Failed:
		return "FAILED"
	}
	return "BLOCKED"
}

func lit(s southbound.Status) bool {
	return s == southbound.Connected || s == southbound.PendingDeletion
}

// showPort writes what a port says of its circuit; peer is NoPort where it has none.
func (f *opticalFront) showPort(t *tree, p, peer southbound.Port, input bool, s southbound.Status) {
	f.sonic.port(t, input, p, peer, s)
	name, peerName := gnmi.InputName(p), gnmi.OutputName(peer)
	if !input {
		name, peerName = gnmi.OutputName(p), gnmi.InputName(peer)
	}
	at := portPath(name).With("state")
	t.put(at.With("status"), portStatus(s))
	in, out := powerIn, powerNone
	if !input {
		if in = powerNone; lit(s) {
			out = f.powerOut(peer)
		}
	}
	t.put(at.With("input-optical-power"), in)
	t.put(at.With("output-optical-power"), out)
	if peer == southbound.NoPort {
		t.put(at.With("connection", "peer"), nil)
		t.put(at.With("connection", "connected"), nil)
		return
	}
	t.put(at.With("connection", "peer"), peerName)
	t.put(at.With("connection", "connected"), lit(s))
}

// powerOut is what leaves the switch of the light that came in at an input.
func (f *opticalFront) powerOut(input southbound.Port) string {
	return decibels(-f.lossOf(input))
}

func (f *opticalFront) lossOf(input southbound.Port) device.CentiBel {
	return lossAlways + f.losses[input]
}

// decibels writes hundredths with two digits.
func decibels(c device.CentiBel) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

func (f *opticalFront) applied(*tree, device.Applied) {}

func (f *opticalFront) counters(t *tree, r reading) {
	t.put(path("optical-switch", "state", "counters", "dropped-packets"), r.dropped)
	old := f.losses
	f.losses = r.losses
	for in := range southbound.Port(f.cfg.Ports) {
		c, stands := f.byIn[in]
		if old[in] == f.losses[in] || !stands {
			continue
		}
		f.sonic.loss(t, c, decibels(f.lossOf(in)))
		if lit(f.status[c]) && f.byOut[c.out] == c {
			t.put(portPath(gnmi.OutputName(c.out)).With("state", "output-optical-power"), f.powerOut(in))
		}
	}
}

func (f *opticalFront) event(t *tree, e southbound.DeviceEvent) {
	if e.Kind != southbound.ConnectionStatus {
		return
	}
	c := ends{e.In, e.Out}
	name := f.names[c]
	if name == "" {
		name = gnmi.ConnectionName(e.In, e.Out)
		f.names[c] = name
	}
	t.put(path("connections", "last-change-time"), f.nanos(e.At))
	if e.Status == southbound.Disconnected {
		f.vanish(t, c, name)
		return
	}
	f.status[c] = e.Status
	f.showConnection(t, e.At, c, name)
	f.sonic.connection(t, c, e.Status)
	f.sonic.loss(t, c, decibels(f.lossOf(c.in)))
	if e.Status != southbound.PendingDeletion {
		f.byIn[c.in], f.byOut[c.out] = c, c
	}
	if f.byIn[c.in] == c {
		f.showPort(t, c.in, c.out, true, e.Status)
	}
	if f.byOut[c.out] == c {
		f.showPort(t, c.out, c.in, false, e.Status)
	}
}

func (f *opticalFront) showConnection(t *tree, at time.Duration, c ends, name string) {
	state := gnmi.ConnectionPath(name).With("state")
	t.put(state.With("status"), f.status[c].String())
	t.put(state.With("last-updated"), f.nanos(at))
	if f.status[c] == southbound.Failed {
		t.put(state.With("status-reason"), "the mirrors did not settle")
	} else {
		t.put(state.With("status-reason"), nil)
	}
}

func (f *opticalFront) vanish(t *tree, c ends, name string) {
	t.remove(gnmi.ConnectionPath(name), isState)
	f.sonic.connection(t, c, southbound.Disconnected)
	delete(f.status, c)
	if f.config[name] != c {
		delete(f.names, c)
	}
	if f.byIn[c.in] == c {
		delete(f.byIn, c.in)
		f.showPort(t, c.in, southbound.NoPort, true, southbound.Disconnected)
	}
	if f.byOut[c.out] == c {
		delete(f.byOut, c.out)
		f.showPort(t, c.out, southbound.NoPort, false, southbound.Disconnected)
	}
}

// plan implements front. A connection that the request did not name is not disturbed: one that wants its ports is
// refused.
func (f *opticalFront) plan(t *tree, touched []schema.Path) (*southbound.Change, func(), error) {
	if err := f.checkSwitch(t); err != nil {
		return nil, nil, err
	}
	named, err := f.named(t, touched)
	rows := f.sonic.keys(touched)
	if err == nil && len(rows) > 0 {
		if len(named) > 0 {
			err = unsupported("one request names both port-connections and rows of %s", f.sonic.p.ConnectTable())
		} else {
			named, err = f.rows(t, rows)
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
	return f.change(names, next), func() { f.done(t, names, next) }, nil
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
		if len(p) > 1 && p[0].Name == "connections" && p[1].Name == "port-connection" {
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
	if mode := t.get(path("optical-switch", "config", "cold-boot-recovery")); mode != nil && mode != f.cfg.Recovery.String() {
		return unsupported("cold-boot-recovery %v: this switch does %v", mode, f.cfg.Recovery)
	}
	for _, e := range t.net() {
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
			return refused("component %q: ports are in0 to in%d and out0 to out%d", name, f.cfg.Ports-1, f.cfg.Ports-1)
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

// change returns what to ask of the device: circuits that were named and stand, also those that did before, which the
// device leaves as they are or, where they failed, tries again.
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
