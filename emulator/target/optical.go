package target

import (
	"cmp"
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
	ports  [2][]*shownPort                     // outputs, inputs: what is shown of them
}

type ends struct{ in, out southbound.Port }

// What the emulated switch says of optical power, in dBm: every transceiver sends at 0, and 1.5 dB are
// lost on the way, the typical insertion loss of a MEMS switch.
const (
	powerIn                    = "0.00"
	powerNone                  = "-40.00"
	lossAlways device.CentiBel = 150
)

func newOpticalFront(c device.Config, w wall, sonic *schema.OCSTables) *opticalFront {
	f := &opticalFront{wall: w, cfg: c}
	if sonic != nil {
		f.sonic = newSONiCView(c.Ports, *sonic)
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

func (f *opticalFront) load(t *tree, now time.Duration, dev Switch) {
	before := make(map[ends]string, len(f.config)) // what the controller called them, before a restart
	for name, c := range f.config {
		before[c] = name
	}
	f.config, f.names, f.status = map[string]ends{}, map[ends]string{}, map[ends]southbound.Status{}
	f.byIn, f.byOut = map[southbound.Port]ends{}, map[southbound.Port]ends{}
	for _, where := range []string{"config", "state"} {
		t.put(path("optical-switch", where, "bidirectional"), false)
		t.put(path("optical-switch", where, "cold-boot-recovery"), f.cfg.Recovery.String())
	}
	t.put(path("optical-switch", "state", "connection-recovery-capability"), f.cfg.Recovery.String())
	f.ports = [2][]*shownPort{make([]*shownPort, f.cfg.Ports), make([]*shownPort, f.cfg.Ports)}
	f.groups(t)
	f.sonic.factory(t)
	for i := range southbound.Port(f.cfg.Ports) {
		f.portState(t, i, true)
		f.portState(t, i, false)
	}
	for _, c := range dev.Accepted().Connect {
		name := cmp.Or(before[ends{c.In, c.Out}], gnmi.ConnectionName(c.In, c.Out))
		f.config[name], f.names[ends{c.In, c.Out}] = ends{c.In, c.Out}, name
		for _, l := range gnmi.ConnectionLeaves(name, c.In, c.Out) {
			t.put(l.Path, l.Value)
		}
		f.sonic.row(t, ends{c.In, c.Out}, true)
	}
	for _, c := range dev.Seen(now).Connections {
		if e := (ends{c.In, c.Out}); f.names[e] == "" && before[e] != "" { // in the state only
			f.names[e] = before[e]
		}
		f.event(t, southbound.DeviceEvent{At: now, Kind: southbound.ConnectionStatus, In: c.In,
			Out: c.Out, Status: c.Status})
	}
	t.put(path("connections", "last-change-time"), f.text(now))
}

func (f *opticalFront) groups(t *tree) {
	for _, g := range [][3]string{{"inputs", "INPUT-ONLY", "outputs"}, {"outputs", "OUTPUT-ONLY", "inputs"}} {
		at := path("optical-switch", "state").Entry("port-groups", "name", g[0])
		t.put(at.With("direction"), g[1])
		t.put(at.Entry("connection-groups", "peer-name", g[2]).With("peer-name"), g[2])
	}
}

func (f *opticalFront) applied(*tree, device.Applied) {}

func (f *opticalFront) counters(t *tree, r reading) {
	old := f.losses
	f.losses = r.losses
	for in := range southbound.Port(f.cfg.Ports) {
		c, stands := f.byIn[in]
		if old[in] == f.losses[in] || !stands {
			continue
		}
		f.sonic.loss(t, c, decibels(f.lossOf(in)))
		if f.byOut[c.out] == c {
			f.showPort(t, c.out, c.in, false, f.status[c])
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
	t.put(path("connections", "last-change-time"), f.text(e.At))
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
	entry := gnmi.ConnectionPath(name)
	t.put(entry.With("state", "name"), name)
	t.put(entry.With("state", "input-port-name"), gnmi.InputName(c.in))
	t.put(entry.With("state", "output-port-name"), gnmi.OutputName(c.out))
	t.put(entry.With("state", "status"), f.status[c].String())
	t.put(entry.With("state", "last-updated"), f.text(at))
	switch f.status[c] {
	case southbound.Failed:
		t.put(entry.With("state", "status-reason"), "the mirrors did not settle")
	case southbound.Invalid:
		t.put(entry.With("state", "status-reason"), "a port of it is not there")
	default:
		t.put(entry.With("state", "status-reason"), nil)
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
