package standalone

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	syspb "github.com/openconfig/gnoi/system"
	"github.com/vishvananda/netlink"
	"google.golang.org/grpc"

	"lightloom/emulator/device"
	"lightloom/emulator/netns/netnstest"
	"lightloom/southbound"
	"lightloom/southbound/frameprobe"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
)

const ms = time.Millisecond

// measured is an optical switch with interfaces of this machine at its ports, i0 at port 0 and so on.
type measured struct {
	profile gnmi.Profile
	conn    *grpc.ClientConn
	probes  *frameprobe.Bench
}

// ports of a switch that is measured: three are probed, and two change beside them.
const measuredPorts = 5

func measure(t *testing.T, profile string, order []int, change func(*Config)) *measured {
	t.Helper()
	cfg := Config{Name: "ocs", Role: OCS, Racks: measuredPorts, Dark: 10 * ms, Profile: profile, Listen: "127.0.0.1:9340",
		Recovery: device.Restore}
	links := map[southbound.Port]int{}
	for i := range measuredPorts {
		inside, outside := fmt.Sprintf("o%d", i), fmt.Sprintf("i%d", i)
		cable(t, inside, outside)
		cfg.Ports = append(cfg.Ports, inside)
	}
	for i := range 3 {
		l, err := netlink.LinkByName(fmt.Sprintf("i%d", order[i]))
		if err != nil {
			t.Fatal(err)
		}
		links[southbound.Port(i)] = l.Attrs().Index
	}
	if change != nil {
		change(&cfg)
	}
	sw := start(t, cfg)
	t.Cleanup(sw.end)
	m := &measured{}
	var err error
	if m.profile, err = gnmi.Named(profile, measuredPorts, 1); err != nil {
		t.Fatal(err)
	}
	if m.probes, err = frameprobe.OpenBench(links); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.probes.Close(); err != nil {
			t.Error(err)
		}
	})
	if m.conn, err = gnmi.Connect(gnmi.Config{Name: "ocs", Addr: cfg.Listen, Plaintext: true}); err != nil {
		t.Fatal(err)
	}
	conn := m.conn
	t.Cleanup(func() { conn.Close() })
	return m
}

// restart restarts the switch by gNOI.
func (m *measured) restart(ctx context.Context, _ bool) error {
	_, err := syspb.NewSystemClient(m.conn).Reboot(ctx, &syspb.RebootRequest{Method: syspb.RebootMethod_COLD})
	return err
}

// TestPacketRules: a switch of ours keeps the rules that packets alone can tell, and each fault of one is found.
func TestPacketRules(t *testing.T) {
	netnstest.Need(t, netnstest.Netns, netnstest.BPF)
	netnstest.Lock(t)
	straight := []int{0, 1, 2}
	dark := conformance.Lab{Dark: 10 * ms}
	for name, tt := range map[string]struct {
		rule   string
		order  []int // of the interfaces at the first ports
		lab    conformance.Lab
		change func(*Config)
		then   func(*measured, *testing.T)  // once the switch runs
		after  func(*testing.T, func(bool)) // a restart: up brings a cable out of service, and back
		want   conformance.Result
		says   string
	}{
		"light":             {rule: "light-through", order: straight, want: conformance.Held},
		"a swapped fibre":   {rule: "light-through", order: []int{0, 2, 1}, want: conformance.Broken, says: "leave"},
		"frames as state":   {rule: "S3", order: straight, want: conformance.Held},
		"frames elsewhere":  {rule: "S3", order: []int{0, 2, 1}, want: conformance.Broken, says: "traffic: "},
		"time":              {rule: "switching-time", order: straight, lab: dark, want: conformance.Held, says: "dark for "},
		"time, not claimed": {rule: "switching-time", order: straight, want: conformance.Held, says: "dark for "},
		"longer than said": {rule: "switching-time", order: straight, lab: dark, want: conformance.Broken,
			change: func(c *Config) { c.Dark = 12 * ms }, says: "from the 10ms that it should be"},
		"told before light": {rule: "switching-time", order: straight, then: (*measured).throughEarly,
			want: conformance.Broken, says: "before the first packet passes"},
		"others stay": {rule: "change-under-load", order: straight, want: conformance.Held, says: "none lost"},
		"all stop": {rule: "change-under-load", order: straight, change: func(c *Config) { c.AllStop = true },
			want: conformance.Broken, says: "were lost"},
		"traffic is back": {rule: "S7", order: straight, want: conformance.Held},
		"nothing is back": {rule: "S7", order: straight, change: func(c *Config) { c.Recovery = device.Remove },
			want: conformance.Held},
		"state is back, traffic not": {rule: "S7", order: straight, after: func(_ *testing.T, up func(bool)) { up(false) },
			want: conformance.Broken, says: "traffic: nothing"},
		"no interfaces": {rule: "switching-time", want: conformance.Skipped, says: "interfaces of this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			profile := "ocp"
			if strings.HasPrefix(tt.rule, "S") {
				profile = "sonic-ocs"
			}
			order := tt.order
			if order == nil {
				order = straight
			}
			m := measure(t, profile, order, tt.change)
			if tt.then != nil {
				tt.then(m, t)
			}
			o := conformance.Options{Write: true, Only: []string{tt.rule}, Lab: tt.lab, Restart: m.restart,
				Timeout: 6 * time.Second}
			if tt.order != nil {
				o.Lab.Probes = m.probes
			}
			if tt.after != nil {
				o.Restart = func(ctx context.Context, warm bool) error {
					err := m.restart(ctx, warm)
					tt.after(t, func(up bool) { plug(t, "i1", up) })
					return err
				}
			}
			f := m.judged(t, o, tt.want)
			if f.Result != tt.want || !strings.Contains(f.Why, tt.says) {
				t.Errorf("%+v, want %s and %q", f, tt.want, tt.says)
			}
		})
	}
}

// judged runs a rule, again where the machine was too busy to tell.
func (m *measured) judged(t *testing.T, o conformance.Options, want conformance.Result) conformance.Finding {
	t.Helper()
	var f conformance.Finding
	for range 2 {
		f = conformance.Run(t.Context(), m.conn, m.profile, measuredPorts, o)[0]
		t.Logf("%s: %s %s", f.Rule, f.Result, f.Why)
		if f.Result == want {
			return f
		}
	}
	if strings.Contains(f.Why, "too busy") {
		t.Skip(f.Why)
	}
	return f
}

// early passes calls on to a target, and tells that circuits are CONNECTED when they are pending.
type early struct {
	gpb.UnimplementedGNMIServer
	to gpb.GNMIClient
}

func (e *early) Capabilities(ctx context.Context, r *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return e.to.Capabilities(ctx, r)
}

func (e *early) Get(ctx context.Context, r *gpb.GetRequest) (*gpb.GetResponse, error) {
	return e.to.Get(ctx, r)
}

func (e *early) Set(ctx context.Context, r *gpb.SetRequest) (*gpb.SetResponse, error) {
	return e.to.Set(ctx, r)
}

func (e *early) Subscribe(s gpb.GNMI_SubscribeServer) error {
	to, err := e.to.Subscribe(s.Context())
	if err != nil {
		return err
	}
	first, err := s.Recv()
	if err == nil {
		err = to.Send(first)
	}
	for err == nil {
		var m *gpb.SubscribeResponse
		if m, err = to.Recv(); err != nil {
			break
		}
		for _, u := range m.GetUpdate().GetUpdate() {
			if v, ok := u.GetVal().GetValue().(*gpb.TypedValue_JsonIetfVal); ok {
				v.JsonIetfVal = bytes.ReplaceAll(v.JsonIetfVal, []byte("PENDING_CONNECTION"), []byte("CONNECTED"))
			}
		}
		err = s.Send(m)
	}
	return err
}

// throughEarly has the switch be checked through early.
func (m *measured) throughEarly(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	gpb.RegisterGNMIServer(s, &early{to: gpb.NewGNMIClient(m.conn)})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	if m.conn, err = gnmi.Connect(gnmi.Config{Name: "ocs", Addr: l.Addr().String(), Plaintext: true}); err != nil {
		t.Fatal(err)
	}
	conn := m.conn
	t.Cleanup(func() { conn.Close() })
}
