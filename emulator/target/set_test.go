package target_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/pki"
)

// raw opens a plain gNMI client, for what the driver would never send.
func (r *rig) raw(t testing.TB) gpb.GNMIClient { return r.rawAs(t, "raw") }

func (r *rig) rawAs(t testing.TB, name string) gpb.GNMIClient {
	t.Helper()
	conn, err := grpc.NewClient(r.addr, grpc.WithTransportCredentials(credentials.NewTLS(r.identity(t,
		pki.Controller,
		name).Client("sw", pki.Switch))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return gpb.NewGNMIClient(conn)
}

func pathOf(t testing.TB, s string) *gpb.Path {
	t.Helper()
	p, err := schema.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p.Proto()
}

func upd(t testing.TB, path, json string) *gpb.Update {
	return &gpb.Update{Path: pathOf(t, path),
		Val: &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(json)}}}
}

const (
	instance = "/network-instances/network-instance[name=DEFAULT]"
	policy   = instance + "/policy-forwarding/policies/policy[policy-id=lightloom]"
	ruleNine = policy + "/rules/rule[sequence-id=9]"
)

// nine is a good rule at a place of its own.
func nine(dst, group string) string {
	return fmt.Sprintf(`{"sequence-id":9,"config":{"sequence-id":9},"ipv4":{"config":{"destination-address":%q}},`+
		`"action":{"config":{"next-hop-group":%q}}}`, dst, group)
}

func conn(in, out string) string {
	name := in + "-" + out
	return fmt.Sprintf(`{"name":%q,"config":{"name":%q,"input-port-name":%q,"output-port-name":%q}}`, name, name, in, out)
}

func connAt(in, out string) string {
	return "/connections/port-connection[name=" + in + "-" + out + "]"
}

// TestCodes sends what is wrong and wants its exact code, and nothing changed.
func TestCodes(t *testing.T) {
	good := []southbound.Rule{{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag,
		Src: southbound.AnyRack},
		Primary: 0, Backup: 1}}
	tests := []struct {
		name string
		kind device.Kind
		req  func(t *testing.T) *gpb.SetRequest
		code codes.Code
		text string
	}{
		{"unknown path", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/acl/config", `{}`)}}
		}, codes.NotFound, "no such path"},
		{"unknown path to delete", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, "/acl")}}
		}, codes.NotFound, "no such path"},
		{"malformed", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, `{"sequence-id"`)}}
		}, codes.InvalidArgument, "malformed"},
		{"wrong type", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine+"/config/sequence-id", `"nine"`)}}
		}, codes.InvalidArgument, "uint32"},
		{"read-only", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t,
				"/interfaces/interface[name=Ethernet0]/state/oper-status",
				`"UP"`)}}
		}, codes.InvalidArgument, "read-only"},
		{"wildcard in an update", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, policy+"/rules/rule[sequence-id=*]",
				nine("10.0.2.0/24", "p0-b1"))}}
		}, codes.InvalidArgument, "name one entry"},
		{"encoding", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{{Path: pathOf(t, ruleNine),
				Val: &gpb.TypedValue{Value: &gpb.TypedValue_AsciiVal{AsciiVal: "x"}}}}}
		}, codes.Unimplemented, "encoding"},
		{"union replace", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{UnionReplace: []*gpb.Update{upd(t, ruleNine, nine("10.0.2.0/24", "p0-b1"))}}
		}, codes.Unimplemented, "union_replace"},
		{"another origin", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Prefix: &gpb.Path{Origin: "cli"}, Delete: []*gpb.Path{pathOf(t, ruleNine)}}
		}, codes.InvalidArgument, "cli"},
		{"a VLAN", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/interfaces/interface[name=Ethernet0]",
				`{"config":{"name":"Ethernet0"},"subinterfaces":{"subinterface":[{"index":7,"config":{"index":7}}]}}`)}}
		}, codes.Unimplemented, "subinterface 7"},
		{"a subinterface of no port", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/interfaces/interface[name=Ethernet99]",
				`{"config":{"name":"Ethernet99"},"subinterfaces":{"subinterface":[{"index":0,"config":{"index":0}}]}}`)}}
		}, codes.Aborted, "Ethernet99"},
		{"an address of the other version", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t,
				"/interfaces/interface[name=Ethernet0]/subinterfaces/"+
					"subinterface[index=0]/ipv6/addresses", `{"address":[{"ip":"192.0.2.1","config":{"ip":"192.0.2.1"}}]}`)}}
		}, codes.InvalidArgument, "IPv6 address"},
		{"a port to be disabled", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/interfaces/interface[name=Ethernet0]/config",
				`{"name":"Ethernet0","enabled":false}`)}}
		}, codes.Unimplemented, "cannot be disabled"},
		{"a port that is not there", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/interfaces/interface[name=Ethernet99]/config",
				`{"name":"Ethernet99","description":"x"}`)}}
		}, codes.Aborted, "interfaces are Ethernet0 to"},
		{"a port without its name", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/interfaces/interface[name=Ethernet0]/config",
				`{"description":"x"}`)}}
		}, codes.Aborted, "config/name is missing"},
		{"dangling group", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, nine("10.0.2.0/24", "nowhere"))}}
		}, codes.Aborted, "nowhere"},
		{"no rack's prefix", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, nine("192.168.0.0/24", "p0-b1"))}}
		}, codes.Aborted, "rack"},
		{"no such rack", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, nine("10.0.99.0/24", "p0-b1"))}}
		}, codes.Aborted, "racks are 0 to 7"},
		{"rule without its key leaf", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine,
				strings.Replace(nine("10.0.2.0/24", "p0-b1"), `"config":{"sequence-id":9},`, "", 1))}}
		}, codes.Aborted, "config/sequence-id is missing"},
		{"key leaf of another rule", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine,
				strings.Replace(nine("10.0.2.0/24", "p0-b1"), `"config":{"sequence-id":9}`, `"config":{"sequence-id":8}`, 1))}}
		}, codes.InvalidArgument, "config/sequence-id"},
		{"same match twice", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, nine("10.0.1.0/24", "p0-b1"))}}
		}, codes.Aborted, "matches the same"},
		{"more specific after", device.Packet, func(t *testing.T) *gpb.SetRequest {
			r := strings.Replace(nine("10.0.1.0/24", "p0-b1"), `"ipv4":{"config":{`,
				`"ipv4":{"config":{"dscp-set":[0,8,16,24,32,40,48,56],`, 1)
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, strings.Replace(ruleNine, "=9", "=4000000", 1),
				strings.ReplaceAll(r, ":9", ":4000000"))}}
		}, codes.Unimplemented, "smaller sequence-id"},
		{"dscp of half a tag", device.Packet, func(t *testing.T) *gpb.SetRequest {
			r := strings.Replace(nine("10.0.2.0/24", "p0-b1"), `"ipv4":{"config":{`, `"ipv4":{"config":{"dscp-set":[0,8],`, 1)
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, r)}}
		}, codes.Aborted, "dscp-set"},
		{"group in use is emptied", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Delete: []*gpb.Path{pathOf(t,
				instance+"/static/next-hop-groups/next-hop-group[name=p0-b1]")}}
		}, codes.Aborted, "p0-b1"},
		{"policy off one port", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, instance+
				"/policy-forwarding/interfaces/interface[interface-id=Ethernet3]")}}
		}, codes.Unimplemented, "7 of 8 ports"},
		{"policy that is applied is deleted", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, policy)}}
		}, codes.Aborted, "does not exist"},
		{"the instance is deleted", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, "/")}}
		}, codes.Unimplemented, "cannot be deleted"},
		{"good and bad", device.Packet, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, nine("10.0.2.0/24", "p0-b1")),
				upd(t, strings.Replace(ruleNine, "=9", "=10", 1),
					strings.ReplaceAll(nine("10.0.3.0/24", "nowhere"), ":9", ":10"))}}
		}, codes.Aborted, "nowhere"},

		{"busy output", device.Optical, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, connAt("in2", "out1"), conn("in2", "out1"))}}
		}, codes.Aborted, `held by "in0-out1"`},
		{"busy input", device.Optical, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, connAt("in0", "out2"), conn("in0", "out2"))}}
		}, codes.Aborted, `held by "in0-out1"`},
		{"half a connection", device.Optical, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/connections/port-connection[name=x]",
				`{"config":{"name":"x","input-port-name":"in3"}}`)}}
		}, codes.Aborted, "needs both"},
		{"no such port", device.Optical, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, connAt("in3", "out8"), conn("in3", "out8"))}}
		}, codes.Aborted, "out0 to out7"},
		{"bidirectional", device.Optical, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t, "/optical-switch/config/bidirectional", `true`)}}
		}, codes.Unimplemented, "directed"},
		{"disabled port", device.Optical, func(t *testing.T) *gpb.SetRequest {
			return &gpb.SetRequest{Update: []*gpb.Update{upd(t,
				"/components/component[name=in0]/ocp-ocs-port/config/enabled",
				`false`)}}
		}, codes.Unimplemented, "disabled"},
	}
	rigs := map[device.Kind]*rig{}
	for _, kind := range []device.Kind{device.Packet, device.Optical} {
		rigs[kind] = newRig(t, kind, nil)
		c := &southbound.Change{Rules: good}
		if kind == device.Optical {
			c = &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
		}
		if err := rigs[kind].dial(t, rigs[kind].config(t)).Set(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rigs[tt.kind]
			c := r.raw(t)
			before := r.dump(t, c)
			_, err := c.Set(t.Context(), tt.req(t))
			if status.Code(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.code, tt.text)
			}
			if after := r.dump(t, c); after != before {
				t.Errorf("the configuration changed:\n%s\n%s", before, after)
			}
		})
	}
}

// dump returns the whole configuration as text.
func (r *rig) dump(t testing.TB, c gpb.GNMIClient) string {
	t.Helper()
	resp, err := c.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{{}}, Type: gpb.GetRequest_CONFIG,
		Encoding: gpb.Encoding_JSON_IETF})
	if err != nil {
		t.Fatal(err)
	}
	return string(resp.GetNotification()[0].GetUpdate()[0].GetVal().GetJsonIetfVal())
}

// TestOrder: deletes before replaces before updates, whatever their order in the request.
func TestOrder(t *testing.T) {
	r := newRig(t, device.Optical, nil)
	c := r.raw(t)
	set := func(req *gpb.SetRequest) {
		t.Helper()
		if _, err := c.Set(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	set(&gpb.SetRequest{Update: []*gpb.Update{upd(t, connAt("in0", "out1"), conn("in0", "out1"))}})
	resp, err := c.Set(t.Context(), &gpb.SetRequest{
		Update:  []*gpb.Update{upd(t, connAt("in2", "out1"), conn("in2", "out1"))},
		Replace: []*gpb.Update{upd(t, connAt("in0", "out3"), conn("in0", "out3"))},
		Delete:  []*gpb.Path{pathOf(t, connAt("in0", "out1")), pathOf(t, connAt("in7", "out7"))}, // an absent one is silent
	})
	if err != nil {
		t.Fatal(err)
	}
	var ops []gpb.UpdateResult_Operation
	for _, x := range resp.GetResponse() {
		ops = append(ops, x.GetOp())
	}
	if fmt.Sprint(ops) != "[DELETE DELETE REPLACE UPDATE]" {
		t.Errorf("operations %v", ops)
	}
	if got := r.dump(t, c); strings.Contains(got, "in0-out1") || !strings.Contains(got, "in0-out3") ||
		!strings.Contains(got, "in2-out1") {
		t.Errorf("configuration %s", got)
	}
	set(&gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, "/connections/port-connection[name=*]")}})
	if got := r.dump(t, c); strings.Contains(got, "port-connection") {
		t.Errorf("configuration %s", got)
	}
}

// TestPolicyApplied: rules take effect while the forwarding policy is applied to the ports.
func TestPolicyApplied(t *testing.T) {
	r := newRig(t, device.Packet, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
	s := r.dial(t, r.config(t))
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: 7, Src: southbound.AnyRack},
		Primary: 2, Backup: 3}
	if err := s.Set(t.Context(), &southbound.Change{Rules: []southbound.Rule{rule}}); err != nil {
		t.Fatal(err)
	}
	out := func() southbound.Port { p, _ := r.plane.Lookup(1, 0, 7); return p }
	if out() != 2 {
		t.Fatalf("leaves by %d", out())
	}
	c := r.raw(t)
	if _, err := c.Set(t.Context(), &gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, instance+
		"/policy-forwarding/interfaces/interface[interface-id=*]")}}); err != nil {
		t.Fatal(err)
	}
	if out() != southbound.NoPort {
		t.Errorf("no policy is applied, and a packet leaves by %d", out())
	}
	// another next hop for the group: every rule that names it follows
	if _, err := c.Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{
		upd(t, instance+"/static/next-hops/next-hop[index=p2]/config/next-hop", `"169.254.0.6"`)}}); err != nil {
		t.Fatal(err)
	}
	var req gpb.SetRequest
	for i := range southbound.Port(8) {
		name := gnmi.InterfaceName(i)
		req.Update = append(req.Update, upd(t, instance+"/policy-forwarding/interfaces/interface[interface-id="+name+"]",
			fmt.Sprintf(`{"config":{"interface-id":%q,"apply-forwarding-policy":"lightloom"}}`, name)))
	}
	if _, err := c.Set(t.Context(), &req); err != nil {
		t.Fatal(err)
	}
	if out() != 6 {
		t.Errorf("leaves by %d, want the group's new port 6", out())
	}
}

// TestPriorityMoves: the same match at another sequence-id changes nothing for packets, and its state moves along.
func TestPriorityMoves(t *testing.T) {
	r := newRig(t, device.Packet, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
	s := r.dial(t, r.config(t))
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: 0,
		Backup: 1}
	if err := s.Set(t.Context(), &southbound.Change{Rules: []southbound.Rule{rule}}); err != nil {
		t.Fatal(err)
	}
	gen := r.plane.Generation()
	seq := gnmi.OpenConfig{Ports: 8, Racks: 8}.Sequence(rule.Match)
	if _, err := r.raw(t).Set(t.Context(), &gpb.SetRequest{
		Delete: []*gpb.Path{pathOf(t, fmt.Sprintf("%s/rules/rule[sequence-id=%d]", policy, seq))},
		Update: []*gpb.Update{upd(t, ruleNine, nine("10.0.1.0/24", "p0-b1"))}}); err != nil {
		t.Fatal(err)
	}
	seen, err := s.Read(t.Context())
	if err != nil || len(seen.Rules) != 1 || seen.Rules[0] != rule {
		t.Errorf("read back %+v, %v", seen, err)
	}
	if r.plane.Generation() != gen {
		t.Error("the plane was touched")
	}
}

func elected(high, low uint64) *gpb.SetRequest {
	return &gpb.SetRequest{Extension: []*gnmi_ext.Extension{{Ext: &gnmi_ext.Extension_MasterArbitration{
		MasterArbitration: &gnmi_ext.MasterArbitration{ElectionId: &gnmi_ext.Uint128{High: high, Low: low}}}}}}
}

func TestElectionIDsPersist(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ids")
	strict := func(_ *device.Config, c *target.Config) { c.Strict, c.ElectionFile = true, file }
	first := newRig(t, device.Packet, strict).raw(t)
	if _, err := first.Set(t.Context(), &gpb.SetRequest{}); status.Code(err) != codes.PermissionDenied {
		t.Errorf("strict, and no id: %v", err)
	}
	if _, err := first.Set(t.Context(), elected(7, 3)); err != nil {
		t.Fatal(err)
	}
	second := newRig(t, device.Packet, strict).raw(t)
	for _, tt := range []struct {
		high, low uint64
		code      codes.Code
	}{{6, 9, codes.PermissionDenied}, {7, 2, codes.PermissionDenied}, {7, 3, codes.OK}, {8, 0, codes.OK},
		{7, 3, codes.PermissionDenied}} {
		if _, err := second.Set(t.Context(), elected(tt.high, tt.low)); status.Code(err) != tt.code {
			t.Errorf("id %d.%d: %v, want %v", tt.high, tt.low, err, tt.code)
		}
	}
}

func TestWrongRole(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	cfg := r.config(t)
	cfg.TLS = r.identity(t, pki.Agent, "a").Client("sw", pki.Switch)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := gnmi.Dial(ctx, cfg); err == nil {
		t.Error("an agent was served")
	}
	cfg.TLS = nil
	if _, err := gnmi.Dial(ctx, cfg); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("plaintext: %v", err)
	}
}

// TestFaults: what the device does wrong is seen through gNMI as through its door.
func TestFaults(t *testing.T) {
	r := newRig(t, device.Optical, nil)
	s := r.dial(t, r.config(t))
	r.door.Do(func(_ time.Duration, d *device.Device) {
		d.Fault(device.Fault{Kind: device.Fail, Port: southbound.NoPort, Times: 1})
	})
	events := make(chan southbound.DeviceEvent, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Watch(ctx, func(e southbound.DeviceEvent) { events <- e }) }()
	next := func(kind southbound.DeviceEventKind, st southbound.Status) southbound.DeviceEvent {
		t.Helper()
		select {
		case e := <-events:
			if e.Kind != kind || e.Status != st {
				t.Fatalf("event %+v, want kind %d %v", e, kind, st)
			}
			return e
		case <-time.After(time.Minute):
			t.Fatal("no event")
			return southbound.DeviceEvent{}
		}
	}
	next(southbound.Synced, 0)
	c := &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
	set := func() {
		t.Helper()
		if err := s.Set(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	set()
	next(southbound.ConnectionStatus, southbound.PendingConnection)
	next(southbound.ConnectionStatus, southbound.Failed)
	set() // the same again: a new try
	next(southbound.ConnectionStatus, southbound.Disconnected)
	next(southbound.ConnectionStatus, southbound.PendingConnection)
	e := next(southbound.ConnectionStatus, southbound.Connected)
	if up := time.Since(r.start); e.At <= 0 || e.At > up || e.Device != 3 {
		t.Errorf("event %+v at %v", e, up)
	}

	r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 20*ms) })
	next(southbound.Lost, 0)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "restarting") {
		t.Errorf("watch: %v", err)
	}
	cancel()
	tick := time.NewTicker(ms)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		err := s.Set(t.Context(), c)
		if err == nil {
			break
		}
		if errors.Is(err, southbound.ErrRefused) {
			t.Fatalf("a restart is no refusal: %v", err)
		}
		select {
		case <-deadline:
			t.Fatal(err)
		case <-tick.C:
		}
	}
	again, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { done <- s.Watch(again, func(e southbound.DeviceEvent) { events <- e }) }()
	for st := southbound.Disconnected; st != southbound.Connected; {
		select {
		case e := <-events:
			st = e.Status
		case <-time.After(time.Minute):
			t.Fatal("the circuit did not come back")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPicksUp: a new target in front of a device that works already shows its configuration.
func TestPicksUp(t *testing.T) {
	for _, kind := range []device.Kind{device.Packet, device.Optical} {
		r := newRig(t, kind, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
		c := &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
		if kind == device.Packet {
			c = &southbound.Change{Rules: []southbound.Rule{{Match: southbound.Match{Dst: 1, Tag: 7,
				Src: 2}, Primary: 2,
				Backup: 3}}}
		}
		if err := r.dial(t, r.config(t)).Set(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		want := r.dump(t, r.raw(t))
		fresh, err := target.New(target.Config{Door: r.door, Start: r.start})
		if err != nil {
			t.Fatal(err)
		}
		defer fresh.Close()
		resp, err := fresh.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{{}}, Type: gpb.GetRequest_CONFIG,
			Encoding: gpb.Encoding_JSON_IETF})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(resp.GetNotification()[0].GetUpdate()[0].GetVal().GetJsonIetfVal()); got != want {
			t.Errorf("%v: got %s\nwant %s", kind, got, want)
		}
	}
}

// TestTargetComesBack: a watch of a target that dies ends with Lost, and the session writes again once it is back.
func TestTargetComesBack(t *testing.T) {
	r := newRig(t, device.Packet, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
	s := r.dial(t, r.config(t))
	rules := tor(8)
	if err := s.Set(t.Context(), &southbound.Change{Rules: rules[:3]}); err != nil {
		t.Fatal(err)
	}
	events, done := make(chan southbound.DeviceEvent, 10), make(chan error, 1)
	go func() { done <- s.Watch(t.Context(), func(e southbound.DeviceEvent) { events <- e }) }()
	if e := <-events; e.Kind != southbound.Synced {
		t.Fatalf("event %+v", e)
	}
	r.stop()
	if e := <-events; e.Kind != southbound.Lost {
		t.Errorf("event %+v, want Lost", e)
	}
	if err := <-done; err == nil {
		t.Error("the watch ended without an error")
	}
	if err := s.Set(t.Context(), &southbound.Change{Rules: rules[3:5]}); err == nil ||
		errors.Is(err, southbound.ErrRefused) {
		t.Errorf("no target is there: %v", err)
	}
	r.serve(t)
	tick := time.NewTicker(ms)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		err := s.Set(t.Context(), &southbound.Change{Rules: rules[3:5]})
		if err == nil {
			break
		}
		select {
		case <-deadline:
			t.Fatal(err)
		case <-tick.C:
		}
	}
	r.await(t, func(s southbound.Seen) bool { return len(s.Rules) == 5 })
}

// TestResultPaths: results repeat the request's prefix and paths, not both in one.
func TestResultPaths(t *testing.T) {
	r := newRig(t, device.Optical, nil)
	resp, err := r.raw(t).Set(t.Context(), &gpb.SetRequest{Prefix: pathOf(t, "/connections"),
		Update: []*gpb.Update{
			upd(t, "/port-connection[name=in0-out1]", conn("in0", "out1"))}})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[*gpb.Path]string{resp.GetPrefix(): "/connections",
		resp.GetResponse()[0].GetPath(): "/port-connection[name=in0-out1]"} {
		if got, err := schema.FromProto(nil, p); err != nil || got.String() != want {
			t.Errorf("%v, %v; want %s", got, err, want)
		}
	}
}

// TestSettings: what is set at a port or at the switch shows in its state, and what holds without it comes back. Rules
// stay as they are.
func TestSettings(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	c := r.raw(t)
	state := func(path string) string {
		t.Helper()
		resp, err := c.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, path)},
			Encoding: gpb.Encoding_JSON_IETF})
		if err != nil {
			t.Fatal(err)
		}
		return string(resp.GetNotification()[0].GetUpdate()[0].GetVal().GetJsonIetfVal())
	}
	set := func(req *gpb.SetRequest) {
		t.Helper()
		if _, err := c.Set(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	want := func(path, value string) {
		t.Helper()
		if got := state(path); got != value {
			t.Errorf("%s is %s, want %s", path, got, value)
		}
	}
	const port = "/interfaces/interface[name=Ethernet1]"
	name := state("/system/state/hostname")
	want(port+"/state/enabled", "true")
	want(port+"/state/type", `"iana-if-type:ethernetCsmacd"`)
	set(&gpb.SetRequest{Replace: []*gpb.Update{upd(t, port+"/config",
		`{"name":"Ethernet1","type":"iana-if-type:ethernetCsmacd","description":"to rack 1","enabled":true}`)},
		Update: []*gpb.Update{upd(t, "/system/config/hostname", `"tor7"`), upd(t, "/system/config/motd-banner", `"hi"`)}})
	want(port+"/state/description", `"to rack 1"`)
	want("/system/state/hostname", `"tor7"`)
	want("/system/state/motd-banner", `"hi"`)
	set(&gpb.SetRequest{Update: []*gpb.Update{upd(t, port+"/config/description", `"to rack 2"`)}})
	want(port+"/state/description", `"to rack 2"`)
	address := port + "/subinterfaces/subinterface[index=0]/ipv6/addresses/address[ip=2001:0db8::1]"
	set(&gpb.SetRequest{Update: []*gpb.Update{upd(t, port+"/subinterfaces", `{"subinterface":[{"index":0,"config":`+
		`{"index":0},"openconfig-if-ip:ipv6":{"addresses":{"address":[{"ip":"2001:0db8::1","config":{"ip":"2001:0db8::1",`+
		`"prefix-length":64}}]}}}]}`)}})
	want(address+"/state/prefix-length", "64")
	set(&gpb.SetRequest{Delete: []*gpb.Path{pathOf(t, port), pathOf(t, "/system")}})
	want(port+"/state/name", `"Ethernet1"`)
	want(port+"/state/enabled", "true")
	want("/system/state/hostname", name)
	for _, gone := range []string{port + "/state/description", "/system/state/motd-banner",
		address + "/state/ip"} {
		if _, err := c.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, gone)}}); status.Code(
			err) != codes.NotFound {
			t.Errorf("%s, whose configuration was deleted: %v", gone, err)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, strings.Trim(state("/system/state/current-datetime"), `"`)); err != nil {
		t.Error(err)
	}
	r.door.Do(func(_ time.Duration, d *device.Device) {
		if n := len(d.Accepted().Rules); n > 0 {
			t.Errorf("%d rules, want none", n)
		}
	})
}
