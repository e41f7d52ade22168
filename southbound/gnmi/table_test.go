package gnmi_test

import (
	"context"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestTableAsOneValue: many rules go as one update, after what stands in the place of each is deleted; few are replaced
// one by one.
func TestTableAsOneValue(t *testing.T) {
	w := gnmi.OpenConfig{Ports: 4, Racks: 100}.NewWriter(nil)
	c := &southbound.Change{}
	for d := range southbound.RackID(100) {
		c.Rules = append(c.Rules, southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag,
			Src: southbound.AnyRack}, Primary: southbound.Port(d % 4), Backup: southbound.NoPort})
	}
	const hops, groups, ports = 8, 4, 4
	for i, want := range [][3]int{{100, hops + groups, 1 + ports + 1}, {100, 0, 1}, {0, 64, 0}} {
		if i == 2 {
			c.Rules = c.Rules[:64]
		}
		req, err := w.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{len(req.GetDelete()), len(req.GetReplace()), len(req.GetUpdate())}; got != want {
			t.Errorf("request %d has %v deletes, replaces and updates, want %v", i, got, want)
		}
		w.Accepted()
	}
}

// deletes is a packet switch that says how many paths each Set deletes, and how it answers a Get.
type deletes struct {
	villain
	sets chan int
}

func (deletes) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{SupportedModels: []*gpb.ModelData{{Name: "openconfig-policy-forwarding"},
		{Name: "openconfig-network-instance-static"}}}, nil
}

func (d deletes) Set(_ context.Context, req *gpb.SetRequest) (*gpb.SetResponse, error) {
	d.sets <- len(req.GetDelete())
	return &gpb.SetResponse{}, nil
}

// TestTableOfEmptySwitch: rules are deleted before a table is written, but for the first change after a read that found
// no rule: neither state nor configuration, which can have no effect.
func TestTableOfEmptySwitch(t *testing.T) {
	const rules = "/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
		"policy[policy-id=lightloom]/rules"
	answer := make(chan *gpb.Notification, 1)
	sw := deletes{villain{get: func(context.Context) (*gpb.GetResponse, error) {
		return &gpb.GetResponse{Notification: []*gpb.Notification{<-answer}}, nil
	}}, make(chan int, 1)}
	s := dial(t, serve(t, sw), func(c *gnmi.Config) { c.Profile = gnmi.OpenConfig{Ports: 4, Racks: 100} })
	c := &southbound.Change{}
	for d := range southbound.RackID(100) {
		c.Rules = append(c.Rules, southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag,
			Src: southbound.AnyRack}, Backup: southbound.NoPort})
	}
	for _, tt := range []struct {
		name string
		says *gpb.Notification // nil: the switch is not read
		want int
	}{
		{"not read yet", nil, 100},
		{"read, and empty", &gpb.Notification{}, 0},
		{"not read since", nil, 100},
		{"ports and no rules", says("/interfaces/interface[name=Ethernet0]/state/oper-status", `"UP"`), 0},
		{"a rule without effect", says(rules+"/rule[sequence-id=9]/config/sequence-id", `9`), 100},
	} {
		if tt.says != nil {
			answer <- tt.says
			if _, err := s.Read(t.Context()); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		if err := s.Set(t.Context(), c); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := <-sw.sets; got != tt.want {
			t.Errorf("%s: %d rules are deleted, want %d", tt.name, got, tt.want)
		}
	}
}
