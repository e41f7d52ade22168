package target_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// speaks makes the rig's target speak a model.
func speaks(profile string) func(*device.Config, *target.Config) {
	return func(_ *device.Config, c *target.Config) { c.Profile = profile }
}

const (
	srlPolicy = "/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]"
	srlApply  = "/network-instance[name=default]/policy-forwarding/interface[subinterface=ethernet-1/%d.0]"
	aclTable  = "/CONFIG_DB/localhost/ACL_TABLE"
	aclRule   = "/CONFIG_DB/localhost/ACL_RULE"
	pairAt    = "/cross-connects/pair[ingress=%d]"
)

func srlRule(seq int, match, hop string) string {
	return fmt.Sprintf(`{"sequence-id":%d,"match":{"ipv4":{%s}},"action":{"next-hop":%q}}`, seq, match, hop)
}

const toRack1 = `"destination-ip":{"prefix":"10.0.1.0/24"}`

// TestNativeCodes: what targets in vendors' models refuse, with which code and words.
func TestNativeCodes(t *testing.T) {
	rule := func(seq int) string { return fmt.Sprintf("%s/rule[sequence-id=%d]", srlPolicy, seq) }
	for _, tt := range []struct {
		name, profile string
		updates       [][2]string
		code          codes.Code
		says          string
	}{
		{"not a pbr-policy", "srl-native", [][2]string{{rule(3), srlRule(3, toRack1, "169.254.0.1")}},
			codes.Aborted,
			"pbr-policy"},
		{"sequence-id beyond the range", "srl-native",
			[][2]string{{srlPolicy, `{"type":"pbr-policy","rule":[` + srlRule(129, toRack1, "169.254.0.1") + `]}`}},
			codes.Aborted, "0 to 128"},
		{"group instead of a next hop", "srl-native", [][2]string{{rule(3), `{"action":{"next-hop-group":"p1"}}`}},
			codes.NotFound, "next-hop-group"},
		{"some ports", "srl-native", [][2]string{{srlPolicy, `{"type":"pbr-policy"}`},
			{fmt.Sprintf(srlApply, 1), `{"apply-forwarding-policy":"lightloom"}`}}, codes.Unimplemented, "1 of 8 ports"},
		{"foreign port", "srl-native", [][2]string{{fmt.Sprintf(srlApply, 9), `{"apply-forwarding-policy":"lightloom"}`}},
			codes.Aborted, "ethernet-1/9.0"},
		{"policy that is not there", "srl-native",
			[][2]string{{fmt.Sprintf(srlApply, 1), `{"apply-forwarding-policy":"other"}`}}, codes.Aborted, "other"},
		{"second policy", "srl-native", [][2]string{{strings.Replace(srlPolicy, "lightloom", "mine", 1),
			`{"type":"pbr-policy"}`}}, codes.Unimplemented, "mine"},
		{"other instance", "srl-native", [][2]string{{strings.Replace(srlPolicy, "default", "red", 1),
			`{"type":"pbr-policy"}`}}, codes.Unimplemented, "red"},
		{"static route", "srl-native", [][2]string{{"/network-instance[name=default]/static-routes/route[prefix=10.0.0.0/24]",
			`{"admin-state":"enable"}`}}, codes.Unimplemented, "policy forwarding only"},
		{"wide before narrow", "srl-native", [][2]string{{srlPolicy, `{"type":"pbr-policy","rule":[` +
			srlRule(3, toRack1, "169.254.0.1") + "," +
			srlRule(4, toRack1+`,"source-ip":{"prefix":"10.0.2.0/24"}`, "169.254.0.2") + `]}`}}, codes.Unimplemented,
			"more specific"},
		{"next hop of no port", "srl-native", [][2]string{{srlPolicy, `{"type":"pbr-policy","rule":[` +
			srlRule(3, toRack1, "192.0.2.1") + `]}`}}, codes.Aborted, "192.0.2.1"},

		{"rule without its list", "sonic", [][2]string{{aclRule,
			`{"lightloom|r1":{"PRIORITY":"5","DST_IP":"10.0.1.0/24","REDIRECT_ACTION":"169.254.0.1"}}`}}, codes.Aborted,
			"there is no ACL_TABLE"},
		{"list on some ports", "sonic", [][2]string{{aclTable,
			`{"lightloom":{"type":"L3","stage":"INGRESS","ports":["Ethernet0"]}}`}}, codes.Unimplemented, "1 of 8"},
		{"list of another type", "sonic", [][2]string{{aclTable,
			`{"lightloom":{"type":"MIRROR","stage":"INGRESS","ports":["Ethernet0"]}}`}}, codes.Unimplemented, "MIRROR"},
		{"list of another client", "sonic", [][2]string{{aclTable, `{"EDGE":{"type":"L3","stage":"INGRESS"}}`}},
			codes.Unimplemented, "EDGE"},
		{"field that it cannot do", "sonic", [][2]string{{aclTable, aclPorts},
			{aclRule, `{"lightloom|r1":{"PRIORITY":"5","L4_DST_PORT":"22"}}`}}, codes.Unimplemented, "L4_DST_PORT"},
		{"no priority", "sonic", [][2]string{{aclTable, aclPorts},
			{aclRule, `{"lightloom|r1":{"DST_IP":"10.0.1.0/24","REDIRECT_ACTION":"169.254.0.1"}}`}}, codes.Aborted, "PRIORITY"},
		{"one priority for wide and narrow", "sonic",
			[][2]string{{aclTable, aclPorts}, {aclRule,
				`{"lightloom|r1":{"PRIORITY":"5","DST_IP":"10.0.1.0/24","REDIRECT_ACTION":"169.254.0.1"},` +
					`"lightloom|r0":{"PRIORITY":"4","DST_IP":"10.0.1.0/24","DSCP":"3/7","REDIRECT_ACTION":"169.254.0.1"}}`}},
			codes.Unimplemented, "more specific"},

		{"ingress beyond the ports", "polatis", [][2]string{{fmt.Sprintf(pairAt, 9), `{"ingress":9,"egress":10}`}},
			codes.Aborted, "1 to 8"},
		{"egress on the ingress side", "polatis", [][2]string{{fmt.Sprintf(pairAt, 1), `{"ingress":1,"egress":2}`}},
			codes.Aborted, "9 to 16"},
		{"egress twice", "polatis", [][2]string{{fmt.Sprintf(pairAt, 1), `{"ingress":1,"egress":9}`},
			{fmt.Sprintf(pairAt, 2), `{"ingress":2,"egress":9}`}}, codes.Aborted, "held by ingress 1"},
		{"key and leaf differ", "polatis", [][2]string{{fmt.Sprintf(pairAt, 1), `{"ingress":2,"egress":9}`}},
			codes.InvalidArgument, "ingress"},
		{"no egress", "polatis", [][2]string{{fmt.Sprintf(pairAt, 1), `{"ingress":1}`}}, codes.Aborted, "egress"},
		{"egress as text", "polatis", [][2]string{{fmt.Sprintf(pairAt, 1), `{"ingress":1,"egress":"9"}`}},
			codes.InvalidArgument, "egress"},
	} {
		t.Run(tt.profile+", "+tt.name, func(t *testing.T) {
			kind := device.Packet
			if tt.profile == "polatis" {
				kind = device.Optical
			}
			c := newRig(t, kind, speaks(tt.profile)).raw(t)
			req := &gpb.SetRequest{}
			for _, u := range tt.updates {
				v := upd(t, u[0], u[1])
				if tt.profile == "sonic" {
					v.Path = schema.SONiC().Proto(mustPath(t, u[0]))
				}
				req.Update = append(req.Update, v)
			}
			before := state(t, c, tt.profile)
			_, err := c.Set(t.Context(), req)
			if status.Code(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("%v, want %v with %q", err, tt.code, tt.says)
			}
			if after := state(t, c, tt.profile); after != before {
				t.Errorf("something changed: %s, then %s", before, after)
			}
		})
	}
}

const aclPorts = `{"lightloom":{"type":"L3","stage":"INGRESS","ports":["Ethernet0","Ethernet4","Ethernet8",` +
	`"Ethernet12","Ethernet16","Ethernet20","Ethernet24","Ethernet28"]}}`

func mustPath(t testing.TB, text string) schema.Path {
	t.Helper()
	p, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// state is everything that a target holds.
func state(t testing.TB, c gpb.GNMIClient, profile string) string {
	t.Helper()
	req := &gpb.GetRequest{Encoding: gpb.Encoding_JSON_IETF, Path: []*gpb.Path{{}}}
	if profile == "sonic" {
		req.Path[0].Origin = schema.SONiCOrigin
	}
	resp, err := c.Get(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, n := range resp.GetNotification() {
		for _, u := range n.GetUpdate() {
			b.Write(u.GetVal().GetJsonIetfVal())
		}
	}
	return b.String()
}

// TestPairsWait: a Set in Polatis' model answers once light passes; what is listed is lit, and a pair whose mirrors
// fail is not listed.
func TestPairsWait(t *testing.T) {
	const dark = 40 * ms
	r := newRig(t, device.Optical, func(d *device.Config, c *target.Config) {
		c.Profile, d.Delays, c.Settle = "polatis", device.Delays{Dark: device.Fixed(dark)}, 300*ms
	})
	cfg := r.config(t)
	cfg.Profile = gnmi.Polatis{Ports: 8}
	s := r.dial(t, cfg)
	set := func(want codes.Code, pairs ...southbound.Port) time.Duration {
		t.Helper()
		c := &southbound.Change{}
		for i := 0; i < len(pairs); i += 2 {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1]})
		}
		began := time.Now()
		if err := s.Set(t.Context(), c); statusOf(err) != want {
			t.Fatalf("%v: %v, want %v", pairs, err, want)
		}
		return time.Since(began)
	}
	listed := func(want int) {
		t.Helper()
		seen, err := s.Read(t.Context())
		if err != nil || len(seen.Connections) != want {
			t.Errorf("%+v, %v; want %d", seen, err, want)
		}
		for _, c := range seen.Connections {
			if _, at, ok := r.plane.LitAfter(c.In); !ok || at > time.Since(r.start) {
				t.Errorf("%d→%d is listed and dark", c.In, c.Out)
			}
		}
	}
	if took := set(codes.OK, 0, 1, 2, 3); took < dark {
		t.Errorf("it answered after %v, and the mirrors move for %v", took, dark)
	}
	listed(2)
	if took := set(codes.OK, 0, 1); took > dark {
		t.Errorf("what stood took %v", took)
	}
	r.door.Do(func(_ time.Duration, d *device.Device) {
		d.Fault(device.Fault{Kind: device.Fail,
			Port: 4, Times: 1})
	})
	set(codes.OK, 4, 5)
	listed(2)
	r.door.Do(func(_ time.Duration, d *device.Device) {
		d.Fault(device.Fault{Kind: device.Stick,
			Port: 6, Times: 1})
	})
	set(codes.DeadlineExceeded, 6, 6)
	listed(2)
	set(codes.DeadlineExceeded, 0, 3) // takes the ports of both; 6→6 is stuck still
	listed(1)
}

// statusOf is the code inside a driver's error.
func statusOf(err error) codes.Code {
	for c := codes.Code(1); c < 17; c++ {
		if err != nil && strings.Contains(err.Error(), "code = "+c.String()) {
			return c
		}
	}
	return codes.OK
}

// TestProfilesOfKinds: a target speaks what its kind of switch speaks, and says so.
func TestProfilesOfKinds(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	if _, err := target.New(target.Config{Door: r.door, Profile: "polatis"}); err == nil ||
		!strings.Contains(err.Error(), "openconfig, srl-native, sonic") {
		t.Errorf("a packet switch as polatis: %v", err)
	}
}
