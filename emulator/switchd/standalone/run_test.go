package standalone

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/netns/netnstest"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) { netnstest.Main(m, false) }

// cable adds a pair of interfaces and returns them.
func cable(t *testing.T, a, b string) {
	t.Helper()
	v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: b, PeerTxQLen: -1}
	v.Name = a
	if err := netlink.LinkAdd(v); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(v) })
	plug(t, b, true)
}

func plug(t *testing.T, name string, up bool) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	set := netlink.LinkSetDown
	if up {
		set = netlink.LinkSetUp
	}
	if err := set(l); err != nil {
		t.Fatal(err)
	}
}

// running is a switch that runs.
type running struct {
	t     *testing.T
	stop  context.CancelFunc
	ended chan error
}

// start runs a switch and waits until it listens.
func start(t *testing.T, cfg Config) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t, cancel, make(chan error, 1)}
	up := make(chan string, 1)
	cfg.Listening = func(addr string) { up <- addr }
	go func() { r.ended <- Run(ctx, cfg) }()
	select {
	case <-up:
	case err := <-r.ended:
		t.Fatalf("switch %q: %v", cfg.Name, err)
	case <-time.After(time.Minute):
		t.Fatalf("switch %q does not listen", cfg.Name)
	}
	return r
}

func (r *running) end() {
	r.t.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			r.t.Error(err)
		}
	case <-time.After(time.Minute):
		r.t.Error("the switch does not end")
	}
}

// links returns how many interfaces there are, and how many filters' hooks they have.
func links(t *testing.T) (n, hooks int) {
	t.Helper()
	all, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		qdiscs, err := netlink.QdiscList(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range qdiscs {
			if q.Type() == "ingress" {
				hooks++
			}
		}
	}
	return len(all), hooks
}

// heard collects a device's events.
type heard struct {
	t  *testing.T
	ch chan southbound.DeviceEvent
}

func listen(t *testing.T, ctx context.Context, s *gnmi.Session) *heard {
	h := &heard{t, make(chan southbound.DeviceEvent, 64)}
	go func() { _ = s.Watch(ctx, func(e southbound.DeviceEvent) { h.ch <- e }) }()
	return h
}

func (h *heard) until(what string, want func(southbound.DeviceEvent) bool) {
	h.t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case e := <-h.ch:
			if want(e) {
				return
			}
		case <-deadline:
			h.t.Fatalf("%s has not been told", what)
		}
	}
}

// TestLab builds a ToR and an OCS by themselves, as a lab would, with TLS over Unix sockets: a circuit lights the ToR's
// fibre, a pulled cable darkens a port, and nothing of either is left in the kernel.
func TestLab(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	for _, dataplane := range []string{"mirred", "ebpf"} {
		t.Run(dataplane, func(t *testing.T) {
			if dataplane == "ebpf" {
				netnstest.Need(t, netnstest.BPF)
			}
			lab(t, dataplane)
		})
	}
}

func lab(t *testing.T, dataplane string) {
	cable(t, "lhost", "lpeer")
	cable(t, "lup", "lspine")
	cable(t, "lfibre", "o0")
	cable(t, "o1", "lfar")
	dir, ca := t.TempDir(), authority(t)
	identity := func(role pki.Role, name string) pki.Identity {
		id, err := ca.Issue(role, name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	before, _ := links(t)
	queue := 0 // bytes for what meets a dark fibre: the mirred dataplane has no such queues
	if dataplane == "ebpf" {
		queue = 1 << 20
	}
	tor := start(t, Config{Name: "tor0", Role: ToR, Ports: []string{"lhost", "lup", "lfibre"},
		Racks: 2, Hosts: 1,
		Fibre: "lfibre", Dataplane: dataplane, VOQBytes: queue,
		Listen: "unix:" + filepath.Join(dir, "tor0"), Identity: identity(pki.Switch, "tor0")})
	ocs := start(t, Config{Name: "ocs", Role: OCS, Ports: []string{"o0", "o1"}, Racks: 2,
		Dark:      5 * time.Millisecond,
		Dataplane: dataplane,
		Listen:    "unix:" + filepath.Join(dir, "ocs"), Identity: identity(pki.Switch, "ocs")})
	busy := Run(t.Context(), Config{Name: "tor1", Role: EPS, Ports: []string{"lup"}, Racks: 2,
		Dataplane: dataplane,
		Listen:    "unix:" + filepath.Join(dir, "busy")})
	if busy == nil || !strings.Contains(busy.Error(), "another switch has it") {
		t.Errorf("a second switch on the same port: %v", busy)
	}
	me := identity(pki.Controller, "controller0")
	dial := func(name string, p gnmi.Profile) *gnmi.Session {
		s, err := gnmi.Dial(t.Context(), gnmi.Config{Name: name,
			Addr: "unix:" + filepath.Join(dir, name), Profile: p,
			TLS: me.Client(name, pki.Switch), Start: time.Now(), Election: func() gnmi.Election {
				return gnmi.Election{High: 1, Low: 1}
			}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	packet, optical := dial("tor0", gnmi.OpenConfig{Ports: 3, Racks: 2}), dial("ocs", gnmi.OCP{Ports: 2})
	ctx, hush := context.WithCancel(t.Context())
	tells := listen(t, ctx, packet)
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: 2,
		Backup: 1}
	if err := packet.Set(t.Context(), &southbound.Change{Replace: true,
		Rules: []southbound.Rule{rule}}); err != nil {
		t.Fatal(err)
	}
	tells.until("that the fibre is dark", port(southbound.PortDown, 2))
	if err := optical.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0,
		Out: 1}}}); err != nil {
		t.Fatal(err)
	}
	tells.until("that the fibre is lit", port(southbound.PortUp, 2))
	if _, hooks := links(t); hooks == 0 {
		t.Error("two switches run without hooks for filters")
	}
	plug(t, "lspine", false)
	tells.until("that a cable is pulled", port(southbound.PortDown, 1))
	plug(t, "lspine", true)
	tells.until("that the cable is back", port(southbound.PortUp, 1))
	ocs.end()
	tells.until("that the light is gone with its switch", port(southbound.PortDown, 2))
	seen, err := packet.Read(t.Context())
	if err != nil || len(seen.Rules) != 1 || seen.Rules[0] != rule {
		t.Errorf("the switch holds %+v, %v; want %+v", seen.Rules, err, rule)
	}
	hush()
	_, _ = packet.Close(), optical.Close()
	tor.end()
	if after, hooks := links(t); after != before || hooks != 0 {
		t.Errorf("%d interfaces were there and %d are, with %d hooks for filters: want none",
			before, after, hooks)
	}
}

func authority(t *testing.T) *pki.Authority {
	t.Helper()
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func port(k southbound.DeviceEventKind, p southbound.Port) func(southbound.DeviceEvent) bool {
	return func(e southbound.DeviceEvent) bool { return e.Kind == k && e.In == p }
}

// TestAfterKill: what a switch that was killed has left in the kernel does not keep the next one from its ports.
func TestAfterKill(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	for _, c := range []Config{
		{Name: "spine0", Role: EPS, Ports: []string{"k0"}, Racks: 2, Dataplane: "mirred", Listen: "127.0.0.1:0"},
		{Name: "tor0", Role: ToR, Ports: []string{"k0"}, Racks: 2, Fibre: "k0", VOQBytes: 1 << 20,
			Dataplane: "ebpf",
			Listen:    "127.0.0.1:0"},
	} {
		t.Run(c.Dataplane, func(t *testing.T) { afterKill(t, c) })
	}
}

func afterKill(t *testing.T, cfg Config) {
	if cfg.Dataplane == "ebpf" {
		netnstest.Need(t, netnstest.BPF)
	}
	cable(t, "k0", "k1")
	killed := &switchProcess{cfg: cfg}
	killed.cfg.Log = slog.New(slog.DiscardHandler)
	if err := killed.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, l := range killed.ports.locks { // the kernel lets go of these, and of descriptors
		l.Close()
	}
	killed.ports.locks = nil
	defer killed.close() // what its process would have taken with it
	killed.sw.Close()
	killed.nl.Close()
	next := start(t, cfg)
	if _, hooks := links(t); hooks == 0 {
		t.Error("a switch runs without hooks for filters")
	}
	next.end()
	if _, hooks := links(t); hooks != 0 {
		t.Errorf("%d hooks for filters are left", hooks)
	}
}

func TestBadConfig(t *testing.T) {
	good := Config{Name: "tor0", Role: ToR, Ports: []string{"a", "b", "c"}, Racks: 2, Hosts: 1, Fibre: "c",
		Listen: "127.0.0.1:1"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"name":      {func(c *Config) { c.Name = "" }, "no name"},
		"role":      {func(c *Config) { c.Role = "hub" }, "take tor, eps, ocs"},
		"ports":     {func(c *Config) { c.Ports = nil }, "no ports"},
		"twice":     {func(c *Config) { c.Ports = []string{"a", "b", "a"} }, `"a" is named twice`},
		"racks":     {func(c *Config) { c.Racks = 0 }, "0 racks"},
		"rack":      {func(c *Config) { c.Rack = 2 }, "racks are 0 to 1"},
		"hosts":     {func(c *Config) { c.Hosts = 4 }, "4 hosts"},
		"fibre":     {func(c *Config) { c.Fibre = "d" }, "none of the ports"},
		"host port": {func(c *Config) { c.Fibre = "a" }, "none of the ports"},
		"dark":      {func(c *Config) { c.Dark = -1 }, "below zero"},
		"queue":     {func(c *Config) { c.VOQBytes = 1000 }, "take 131072"},
		"no fibre":  {func(c *Config) { c.VOQBytes, c.Fibre = 1<<20, "" }, "a ToR with a fibre"},
		"mirred":    {func(c *Config) { c.VOQBytes, c.Dataplane = 1<<20, "mirred" }, "need the ebpf dataplane"},
		"spine":     {func(c *Config) { c.Role = EPS }, "a ToR's"},
		"address":   {func(c *Config) { c.Listen = "here" }, "host:port"},
		"plaintext": {func(c *Config) { c.Listen = "0.0.0.0:1" }, "plaintext"},
		"socket":    {func(c *Config) { c.Listen = "unix:" + strings.Repeat("x", 108) }, "107 bytes"},
	} {
		c := good
		tt.change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want something about %q", name, err, tt.want)
		}
	}
}

// TestNoSuchPort: a port that is not there is named.
func TestNoSuchPort(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	err := Run(t.Context(), Config{Name: "spine0", Role: EPS, Ports: []string{"nowhere"}, Racks: 1,
		Listen: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), `find port "nowhere"`) {
		t.Error(err)
	}
}
