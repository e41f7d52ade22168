package gnmi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

// deletes is a packet switch that says how many paths each Set deletes, and how it answers a Get. It waits with its
// answers to Sets for held.
type deletes struct {
	villain
	sets  chan int
	held  chan struct{} // nil: it does not wait
	heeds bool          // it refuses older leaders
}

func (deletes) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{SupportedModels: []*gpb.ModelData{{Name: "openconfig-policy-forwarding"},
		{Name: "openconfig-network-instance-static"}}}, nil
}

func (d deletes) Set(ctx context.Context, req *gpb.SetRequest) (*gpb.SetResponse, error) {
	if len(req.GetDelete())+len(req.GetReplace())+len(req.GetUpdate()) == 0 { // a claim
		if id := req.GetExtension()[0].GetMasterArbitration().GetElectionId(); d.heeds && id.GetLow() < leads.Low {
			return nil, status.Error(codes.PermissionDenied, "a larger election id is known")
		}
		return &gpb.SetResponse{}, nil
	}
	d.sets <- len(req.GetDelete())
	if d.held != nil {
		select {
		case <-d.held:
		case <-ctx.Done():
		}
	}
	return &gpb.SetResponse{}, nil
}

// leads is the election id of the leader that writes to a switch of the kind deletes.
var leads = gnmi.Election{Low: 1}

// follow dials a switch of this kind.
func follow(t *testing.T, sw deletes) *gnmi.Session {
	t.Helper()
	return dial(t, serve(t, sw), func(c *gnmi.Config) {
		c.Profile = gnmi.OpenConfig{Ports: 4, Racks: 100}
		c.Election = func() gnmi.Election { return leads }
	})
}

// hundred is a table of a hundred rules.
func hundred() *southbound.Change {
	c := &southbound.Change{}
	for d := range southbound.RackID(100) {
		c.Rules = append(c.Rules, southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag,
			Src: southbound.AnyRack}, Backup: southbound.NoPort})
	}
	return c
}

// TestTableOfEmptySwitch: rules are deleted before a table is written, but for the first change after a read that found
// no rule: neither state nor configuration, which can have no effect.
func TestTableOfEmptySwitch(t *testing.T) {
	const rules = "/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
		"policy[policy-id=lightloom]/rules"
	answer := make(chan *gpb.Notification, 1)
	sw := deletes{villain: villain{get: func(context.Context) (*gpb.GetResponse, error) {
		return &gpb.GetResponse{Notification: []*gpb.Notification{<-answer}}, nil
	}}, sets: make(chan int, 1), heeds: true}
	s := follow(t, sw)
	for i, tt := range []struct {
		name string
		says *gpb.Notification // nil: the switch is not read
		want int
	}{
		{"not claimed yet", &gpb.Notification{}, 100},
		{"not read yet", nil, 100},
		{"read, and empty", &gpb.Notification{}, 0},
		{"not read since", nil, 100},
		{"ports and no rules", says("/interfaces/interface[name=Ethernet0]/state/oper-status", `"UP"`), 0},
		{"a list without rules", says(rules, `{"rule":[]}`), 0},
		{"a rule without effect", says(rules+"/rule[sequence-id=9]/config/sequence-id", `9`), 100},
		{"a rule of another model", says(rules, `{"rule":[{"sequence-id":9,"acme:mirror":{"to":"Ethernet9"}}]}`), 100},
		{"with a prefix", says(rules, `{"pf:rule":[{"pf:sequence-id":9,"acme:mirror":{"to":"Ethernet9"}}]}`), 100},
		{"what a rule has, of another model", says(rules+"/rule[sequence-id=9]/transport", `{"acme:port":22}`), 100},
		{"empty again", &gpb.Notification{}, 0},
	} {
		if i == 1 {
			if err := s.Claim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if tt.says != nil {
			answer <- tt.says
			if _, err := s.Read(t.Context()); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		if err := s.Set(t.Context(), hundred()); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := <-sw.sets; got != tt.want {
			t.Errorf("%s: %d rules are deleted, want %d", tt.name, got, tt.want)
		}
	}
}

// TestTableOfUnfencedSwitch: where older leaders can write, a read without rules does not spare the deletes.
func TestTableOfUnfencedSwitch(t *testing.T) {
	sw := deletes{villain: villain{get: func(context.Context) (*gpb.GetResponse, error) {
		return &gpb.GetResponse{}, nil
	}}, sets: make(chan int, 1)}
	s := follow(t, sw)
	if err := s.Claim(t.Context()); !errors.Is(err, southbound.ErrUnfenced) {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(t.Context(), hundred()); err != nil {
		t.Fatal(err)
	}
	if got := <-sw.sets; got != 100 {
		t.Errorf("%d rules are deleted, want 100", got)
	}
}

// TestTableAfterOpenSet: a read without rules says nothing of a change that the switch can still make.
func TestTableAfterOpenSet(t *testing.T) {
	for _, gaveUp := range []bool{false, true} {
		t.Run(fmt.Sprintf("gave up %v", gaveUp), func(t *testing.T) {
			sw := deletes{villain: villain{get: func(context.Context) (*gpb.GetResponse, error) {
				return &gpb.GetResponse{}, nil
			}}, sets: make(chan int, 1), held: make(chan struct{}), heeds: true}
			s := follow(t, sw)
			if err := s.Claim(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Set(ctx, hundred()) }()
			want := func(n int) {
				t.Helper()
				if got := <-sw.sets; got != n {
					t.Errorf("%d rules are deleted, want %d", got, n)
				}
			}
			want(100)
			if gaveUp {
				cancel()
				if err := <-ended; err == nil {
					t.Error("a Set is accepted that was given up")
				}
			}
			for i, n := range []int{100, 0} {
				if _, err := s.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					close(sw.held)
					if !gaveUp {
						if err := <-ended; err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := s.Set(t.Context(), hundred()); err != nil {
					t.Fatal(err)
				}
				want(n)
			}
		})
	}
}

// TestTableAfterRedial: nor does a read by the session that follows the one which sent that change.
func TestTableAfterRedial(t *testing.T) {
	sw := deletes{villain: villain{get: func(context.Context) (*gpb.GetResponse, error) {
		return &gpb.GetResponse{}, nil
	}}, sets: make(chan int, 1), held: make(chan struct{}), heeds: true}
	cfg := gnmi.Config{Name: "d", Addr: serve(t, sw), Plaintext: true, Timeout: time.Minute, Changes: new(gnmi.Changes),
		Profile: gnmi.OpenConfig{Ports: 4, Racks: 100}, Election: func() gnmi.Election { return leads }}
	l := gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) { return gnmi.Dial(ctx, cfg) }, nil)
	defer l.Close()
	ended := make(chan error, 1)
	go func() { ended <- l.Set(t.Context(), hundred()) }()
	<-sw.sets
	l.Redial()
	if err := <-ended; err == nil {
		t.Error("a Set is accepted whose session has ended")
	}
	close(sw.held)
	for _, n := range []int{100, 0} {
		if err := l.Claim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.Set(t.Context(), hundred()); err != nil {
			t.Fatal(err)
		}
		if got := <-sw.sets; got != n {
			t.Errorf("%d rules are deleted, want %d", got, n)
		}
	}
}
