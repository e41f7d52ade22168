package onwire

import (
	"log/slog"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hostagent"
)

func TestMain(m *testing.M) { netnstest.Main(m, false) }

const deadline = 2 * time.Minute

// patience is how often a measurement that others disturbed is taken.
const patience = 15

// world is a fabric with an agent for its hosts.
type world struct {
	*hostagent.Agent
	spec *topo.Fabric
	net  *netns.Fabric
	now  func() time.Duration
	netnstest.Shared
}

func newWorld(t testing.TB, spec string) *world {
	t.Helper()
	netnstest.Need(t, netnstest.Netns)
	shared := netnstest.Share(t)
	s, err := topo.ParseSpec(spec)
	must(t, err)
	f, err := topo.New(s)
	must(t, err)
	net, err := netns.Build(f, netns.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, net.Close()) })
	w := &world{spec: f, net: net, Shared: shared}
	began := time.Now()
	w.now = func() time.Duration { return time.Since(began) }
	cfg := hostagent.ForFabric(f)
	cfg.Net, cfg.Now, cfg.Log = net, w.now, slog.New(slog.NewTextHandler(writer{t}, nil))
	w.Agent, err = hostagent.New(cfg)
	must(t, err)
	t.Cleanup(func() { must(t, w.Agent.Close()) })
	w.steerAll(t)
	return w
}

type writer struct{ t testing.TB }

func (w writer) Write(b []byte) (int, error) { w.t.Logf("%s", b); return len(b), nil }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// steerAll gives every switch its rules: tag i+1 goes over spine i, the default over spine 0, the
// circuit over the OCS.
func (w *world) steerAll(t testing.TB) {
	f := w.spec
	for n, node := range f.Topology.Nodes() {
		switch node.Role {
		case pathmap.ToR:
			must(t, w.net.Plane(pathmap.NodeID(n)).SetRules(w.torRules(int(node.Rack)), nil, true))
		case pathmap.Switch:
			var rules []southbound.Rule
			for _, l := range f.Topology.Out(pathmap.NodeID(n)) {
				link := f.Topology.Link(l)
				rules = append(rules, rule(f.Topology.Node(link.To).Rack, southbound.AnyTag, link.FromPort,
					southbound.NoPort))
			}
			must(t, w.net.Plane(pathmap.NodeID(n)).SetRules(rules, nil, true))
		}
	}
}

func rule(dst int32, tag southbound.Tag, out int32, backup southbound.Port) southbound.Rule {
	return southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(dst), Tag: tag,
		Src: southbound.AnyRack},
		Primary: southbound.Port(out), Backup: backup}
}

func (w *world) torRules(rack int) []southbound.Rule {
	f := w.spec
	var rules []southbound.Rule
	for dst := range int32(f.Racks) {
		if int(dst) == rack {
			continue
		}
		first := int32(f.HostsPerRack)
		rules = append(rules, rule(dst, southbound.AnyTag, first, southbound.NoPort))
		for spine := range int32(f.Spec.Spines) {
			rules = append(rules, rule(dst, southbound.PathTag(int(spine)), first+spine, southbound.NoPort))
		}
		if f.HasOCS() {
			rules = append(rules, rule(dst, southbound.TagCircuit, f.OCSUplink[rack], southbound.Port(first)))
		}
	}
	return rules
}

// ring sets up the circuits r → r+1.
func (w *world) ring(t testing.TB) {
	var on []southbound.CrossConnect
	for r := range w.spec.Racks {
		on = append(on, southbound.CrossConnect{In: southbound.Port(r),
			Out: southbound.Port((r + 1) % w.spec.Racks)})
	}
	must(t, w.net.Plane(w.spec.OCSNode).Move(nil, on, 0))
}

// take waits for n events from number 1 on.
func (w *world) take(t testing.TB, n int) []southbound.Event {
	t.Helper()
	timeout := time.After(deadline)
	for {
		changed := w.Changed()
		_, ev, err := w.Events(1, n)
		must(t, err)
		if len(ev) == n {
			return ev
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("%d of %d events came; status %+v", len(ev), n, w.Status())
		}
	}
}

func one(id southbound.CoflowID, src, dst southbound.HostID, size pathmap.Bytes,
	tag southbound.Tag) southbound.Start {
	return southbound.Start{Coflow: id, Src: []southbound.HostID{src}, Dst: []southbound.HostID{dst},
		Size: []pathmap.Bytes{size}, Tag: []southbound.Tag{tag}}
}

// payload is what a layer-2 rate carries in d.
func payload(r pathmap.BitsPerSecond, d time.Duration) pathmap.Bytes {
	return pathmap.Bytes(float64(r) / 8 * d.Seconds() * 1448 / 1514)
}
