package gnmi_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// plainSwitch keeps what it is sent and shows it again.
type plainSwitch struct {
	everything
	mu   *sync.Mutex
	held *[]*gpb.Update
}

func (p plainSwitch) Set(_ context.Context, r *gpb.SetRequest) (*gpb.SetResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*p.held = append(append(*p.held, r.GetReplace()...), r.GetUpdate()...)
	return &gpb.SetResponse{}, nil
}

func (p plainSwitch) Get(context.Context, *gpb.GetRequest) (*gpb.GetResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &gpb.GetResponse{Notification: []*gpb.Notification{{Update: slices.Clone(*p.held)}}}, nil
}

// TestKeepBackups: a switch that can write no backups down takes rules that have some; whoever has sent
// them reads them back, and another reads the rules without.
func TestKeepBackups(t *testing.T) {
	addr := serve(t, plainSwitch{mu: &sync.Mutex{}, held: &[]*gpb.Update{}})
	open := func() *gnmi.Session {
		s, err := gnmi.Dial(t.Context(), gnmi.Config{Name: "plain", Addr: addr, Plaintext: true,
			Profile: gnmi.OpenConfigPlain{Ports: 2, Racks: 4, ReadConfig: true}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	with, without := rule(2, southbound.TagCircuit, 1, 0), rule(2, southbound.TagCircuit, 1, southbound.NoPort)
	change := &southbound.Change{Rules: []southbound.Rule{with}}
	if err := open().Set(t.Context(), change); err == nil {
		t.Error("a switch without backups took one")
	}
	keeper := gnmi.KeepBackups(open())
	if err := keeper.Set(t.Context(), change); err != nil || change.Rules[0] != with {
		t.Fatal(change.Rules, err)
	}
	for _, tt := range []struct {
		by   southbound.Device
		want southbound.Rule
	}{{keeper, with}, {gnmi.KeepBackups(open()), without}} {
		seen, err := tt.by.Read(t.Context())
		if err != nil || len(seen.Rules) != 1 || seen.Rules[0] != tt.want {
			t.Errorf("%+v, %v; want %+v", seen.Rules, err, tt.want)
		}
	}
}
