package gnmi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// umpire answers claims by the election id that they carry, and remembers it.
type umpire struct {
	villain
	answer func(id gnmi.Election) error

	mu   sync.Mutex
	seen []gnmi.Election
}

func (u *umpire) Set(_ context.Context, r *gpb.SetRequest) (*gpb.SetResponse, error) {
	if n := len(r.GetDelete()) + len(r.GetReplace()) + len(r.GetUpdate()); n > 0 ||
		len(r.GetExtension()) != 1 {
		return nil, fmt.Errorf("%d operations and %d extensions", n, len(r.GetExtension()))
	}
	m := r.GetExtension()[0].GetMasterArbitration().GetElectionId()
	id := gnmi.Election{High: m.GetHigh(), Low: m.GetLow()}
	u.mu.Lock()
	u.seen = append(u.seen, id)
	u.mu.Unlock()
	return &gpb.SetResponse{}, u.answer(id)
}

// TestClaim: a device is claimed once it has taken the election id and refused the one before it; what
// it says instead decides whether it is unfenced, another controller's, or to be asked again.
func TestClaim(t *testing.T) {
	from := func(least gnmi.Election) func(gnmi.Election) error {
		return func(id gnmi.Election) error {
			if id.Less(least) {
				return status.Error(codes.PermissionDenied, "a larger election id is known")
			}
			return nil
		}
	}
	always := func(c codes.Code) func(gnmi.Election) error {
		return func(gnmi.Election) error { return status.Error(c, "no") }
	}
	lost := errors.New("no sentinel")
	id := gnmi.Election{High: 3, Low: 1}
	for _, tt := range []struct {
		name   string
		id     *gnmi.Election
		answer func(gnmi.Election) error
		want   error
		asked  []gnmi.Election
	}{
		{"it arbitrates", &id, from(id), nil, []gnmi.Election{id, {High: 3}}},
		{"no low half", &gnmi.Election{High: 3}, from(gnmi.Election{High: 3}), nil,
			[]gnmi.Election{{High: 3}, {High: 2, Low: 1<<64 - 1}}},
		{"the least id", &gnmi.Election{}, from(id), southbound.ErrNotLeader, []gnmi.Election{{}}},
		{"a larger id is known", &id, from(gnmi.Election{High: 4}), southbound.ErrNotLeader,
			[]gnmi.Election{id}},
		{"it passes ids over", &id, from(gnmi.Election{}), southbound.ErrUnfenced,
			[]gnmi.Election{id, {High: 3}}},
		{"it refuses empty Sets", &id, always(codes.InvalidArgument), southbound.ErrUnfenced,
			[]gnmi.Election{id}},
		{"it knows no extensions", &id, always(codes.Unimplemented), southbound.ErrUnfenced,
			[]gnmi.Election{id}},
		{"it is out of order", &id, always(codes.Internal), lost, []gnmi.Election{id}},
		{"it fails in between", &id, func(e gnmi.Election) error {
			if e == id {
				return nil
			}
			return status.Error(codes.Unavailable, "gone")
		}, lost, []gnmi.Election{id, {High: 3}}},
		{"no election id", nil, from(id), southbound.ErrUnfenced, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := &umpire{answer: tt.answer}
			cfg := gnmi.Config{Name: "sw", Addr: serve(t, u), Plaintext: true, Profile: gnmi.OCP{Ports: 8}}
			if tt.id != nil {
				cfg.Election = func() gnmi.Election { return *tt.id }
			}
			l := gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) { return gnmi.Dial(ctx, cfg) }, nil)
			defer l.Close()
			err := l.Claim(t.Context())
			switch {
			case tt.want == lost:
				for _, s := range []error{nil, southbound.ErrUnfenced, southbound.ErrNotLeader,
					southbound.ErrRefused} {
					if errors.Is(err, s) {
						t.Errorf("%v wraps %v", err, s)
					}
				}
			case !errors.Is(err, tt.want):
				t.Errorf("%v, want %v", err, tt.want)
			}
			if !slices.Equal(u.seen, tt.asked) {
				t.Errorf("it was asked with %v, want %v", u.seen, tt.asked)
			}
		})
	}
}
