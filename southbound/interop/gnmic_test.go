package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmic/pkg/api"
)

// conversation is what gnmic says to a target of one model.
type conversation struct {
	profile string
	sets    [][2]string // path and value
	get     string      // shows what was set
	holds   string      // a piece of the answer
	watch   string      // changes when it is set, and when it is deleted
	remove  []string
	sample  string
	wrong   [2]string // a set that is refused
}

var conversations = []conversation{
	{profile: "openconfig",
		sets: [][2]string{
			{"/network-instances/network-instance[name=DEFAULT]/static/next-hops/next-hop[index=p1]",
				`{"index":"p1","config":{"index":"p1","next-hop":"169.254.0.1","preference":1}}`},
			{"/network-instances/network-instance[name=DEFAULT]/static/next-hop-groups/next-hop-group[name=p1]",
				`{"name":"p1","config":{"name":"p1"},"next-hops":{"next-hop":[{"index":"p1","config":{"index":"p1"}}]}}`},
			{"/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/policy[policy-id=lightloom]",
				`{"policy-id":"lightloom","config":{"policy-id":"lightloom","type":"PBR_POLICY"},` +
					`"rules":{"rule":[{"sequence-id":9,"config":{"sequence-id":9},` +
					`"ipv4":{"config":{"destination-address":"10.0.1.0/24"}},"action":{"config":{"next-hop-group":"p1"}}}]}}`},
		},
		get: "/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
			"policy[policy-id=lightloom]/rules/rule[sequence-id=9]/ipv4",
		holds: "10.0.1.0/24",
		watch: "/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/policy[policy-id=lightloom]",
		remove: []string{"/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
			"policy[policy-id=lightloom]"},
		sample: "/components/component[name=sw]/integrated-circuit/pipeline-counters/drop/state/no-route",
		wrong: [2]string{"/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
			"policy[policy-id=lightloom]/rules/rule[sequence-id=9]", `{"sequence-id":9,"config":{"sequence-id":"nine"}}`}},
	{profile: "srl-native",
		sets: [][2]string{{"/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]",
			`{"policy-id":"lightloom","type":"pbr-policy","rule":[{"sequence-id":9,` +
				`"match":{"ipv4":{"destination-ip":{"prefix":"10.0.1.0/24"}}},"action":{"next-hop":"169.254.0.1"}}]}`}},
		get:    "/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]/rule[sequence-id=9]",
		holds:  "169.254.0.1",
		watch:  "/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]",
		remove: []string{"/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]"},
		sample: "/interface[name=*]/oper-state",
		wrong: [2]string{"/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]/rule[sequence-id=9]",
			`{"sequence-id":9,"action":{"next-hop-group":"p1"}}`}},
	{profile: "sonic",
		sets: [][2]string{
			{"sonic-db:/CONFIG_DB/localhost/ACL_TABLE",
				`{"lightloom":{"type":"L3","stage":"INGRESS","ports":["Ethernet0","Ethernet4","Ethernet8","Ethernet12"]}}`},
			{"sonic-db:/CONFIG_DB/localhost/ACL_RULE",
				`{"lightloom|r9":{"PRIORITY":"7","DST_IP":"10.0.1.0/24","DSCP":"3/7","REDIRECT_ACTION":"169.254.0.1"}}`},
		},
		get:    "sonic-db:/CONFIG_DB/localhost/ACL_RULE",
		holds:  "169.254.0.1",
		watch:  "sonic-db:/CONFIG_DB/localhost/ACL_RULE",
		remove: []string{"sonic-db:/CONFIG_DB/localhost/ACL_RULE", "sonic-db:/CONFIG_DB/localhost/ACL_TABLE"},
		sample: "sonic-db:/STATE_DB/localhost/PORT_TABLE",
		wrong:  [2]string{"sonic-db:/CONFIG_DB/localhost/ACL_TABLE", `{"lightloom":{"type":"L9"}}`}},
	{profile: "ocp",
		sets: [][2]string{{"/connections/port-connection[name=a]/config",
			`{"name":"a","input-port-name":"in0","output-port-name":"out1"}`}},
		get:    "/connections/port-connection[name=a]/config",
		holds:  "out1",
		watch:  "/connections/port-connection[name=*]/state/status",
		remove: []string{"/connections/port-connection[name=a]"},
		sample: "/components/component[name=out1]/ocp-ocs-port/state",
		wrong: [2]string{"/connections/port-connection[name=a]/config",
			`{"name":"a","input-port-name":"in0","output-port-name":"out9"}`}},
	{profile: "sonic-ocs",
		sets:   [][2]string{{"sonic-db:/CONFIG_DB/localhost/OCS_CROSS_CONNECT", `{"1A-2B":{"a_side":"1A","b_side":"2B"}}`}},
		get:    "sonic-db:/CONFIG_DB/localhost/OCS_CROSS_CONNECT",
		holds:  "2B",
		watch:  "sonic-db:/STATE_DB/localhost/OCS_CROSS_CONNECT_TABLE",
		remove: []string{"sonic-db:/CONFIG_DB/localhost/OCS_CROSS_CONNECT"},
		sample: "sonic-db:/STATE_DB/localhost/OCS_PORT_TABLE",
		wrong:  [2]string{"sonic-db:/CONFIG_DB/localhost/OCS_CROSS_CONNECT", `{"1A-2B":{"a_side":"1A","b_side":"3B"}}`}},
	{profile: "polatis",
		sets:   [][2]string{{"/cross-connects/pair[ingress=1]", `{"ingress":1,"egress":6}`}},
		get:    "/cross-connects/pair[ingress=1]",
		holds:  "6",
		watch:  "/cross-connects",
		remove: []string{"/cross-connects/pair[ingress=1]"},
		sample: "/cross-connects",
		wrong:  [2]string{"/cross-connects/pair[ingress=1]", `{"ingress":1,"egress":2}`}},
}

// TestGnmic: gnmic gets, sets and subscribes (once, on change, sampled) with every model.
func TestGnmic(t *testing.T) {
	lightloom(t) // built before any clock runs
	for _, tt := range conversations {
		t.Run(tt.profile, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			x := startTarget(t, tt.profile, 4).gnmic(ctx, t)
			if caps, err := x.Capabilities(ctx); err != nil || len(caps.GetSupportedModels()) == 0 {
				t.Fatalf("capabilities: %v, %v", caps, err)
			}
			changes, ended := x.stream(ctx, t, "changes", tt.watch, api.SubscriptionModeON_CHANGE())
			next(t, changes, ended, func(r *gpb.SubscribeResponse) bool { return r.GetSyncResponse() })

			for _, s := range tt.sets {
				x.set(ctx, t, api.Update(api.Path(s[0]), api.Value(s[1], "json_ietf")))
			}
			next(t, changes, ended, tells)
			if got := x.get(ctx, t, tt.get); !strings.Contains(got, tt.holds) {
				t.Errorf("get %s: %s", tt.get, got)
			}
			if got := x.once(ctx, t, tt.get); !strings.Contains(got, tt.holds) {
				t.Errorf("subscribe once %s: %s", tt.get, got)
			}
			samples, over := x.stream(ctx, t, "samples", tt.sample, api.SubscriptionModeSAMPLE(),
				api.SampleInterval(50*time.Millisecond))
			for range 4 {
				next(t, samples, over, tells)
			}
			req, err := api.NewSetRequest(api.Update(api.Path(tt.wrong[0]), api.Value(tt.wrong[1], "json_ietf")))
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := x.Set(ctx, req); err == nil {
				t.Errorf("%v was taken: %v", tt.wrong, resp)
			}
			if got := x.get(ctx, t, tt.get); !strings.Contains(got, tt.holds) {
				t.Errorf("after a refused set, get %s: %s", tt.get, got)
			}
			for _, p := range tt.remove {
				x.set(ctx, t, api.Delete(p))
			}
			next(t, changes, ended, tells)
			if got, err := x.ask(ctx, tt.get); err == nil && strings.Contains(got, tt.holds) {
				t.Errorf("after its deletion, get %s: %s", tt.get, got)
			}
		})
	}
}
