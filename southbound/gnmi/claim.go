package gnmi

import (
	"context"
	"errors"
	"fmt"
	"math"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
)

var (
	_ southbound.Claiming = (*Session)(nil)
	_ southbound.Claiming = (*Lazy)(nil)
)

// Claim implements southbound.Claiming by master arbitration: a Set with the election id and nothing
// else. Devices may pass over extensions that they do not know, so a second one with a smaller id
// follows, which a device that arbitrates refuses. It needs nothing of the device's configuration.
func (s *Session) Claim(ctx context.Context) error {
	err := s.inTurn(ctx, s.claim)
	s.rules.claimed(err)
	if err != nil {
		return fmt.Errorf("claim device %q: %w", s.cfg.Name, err)
	}
	return nil
}

func (s *Session) claim(ctx context.Context) error {
	if s.cfg.Election == nil {
		return southbound.ErrUnfenced
	}
	id := s.cfg.Election()
	if err := explain(s.arbitrate(ctx, id)); errors.Is(err, southbound.ErrRefused) {
		return fmt.Errorf("%w: %w", err, southbound.ErrUnfenced)
	} else if err != nil {
		return err
	}
	smaller, any := id.before()
	if !any {
		return nil
	}
	err := s.arbitrate(ctx, smaller)
	switch {
	case err == nil:
		return southbound.ErrUnfenced
	case status.Code(err) == codes.PermissionDenied:
		return nil
	}
	return explain(err)
}

// arbitrate sends an election id and nothing else.
func (s *Session) arbitrate(ctx context.Context, id Election) error {
	resp, err := s.client.Set(ctx, &gpb.SetRequest{Extension: []*gnmi_ext.Extension{s.arbitration(id)}})
	if err != nil {
		return err
	}
	return failureWithin(resp)
}

// before returns the id that comes before e, false where there is none.
func (e Election) before() (Election, bool) {
	switch {
	case e.Low > 0:
		return Election{e.High, e.Low - 1}, true
	case e.High > 0:
		return Election{e.High - 1, math.MaxUint64}, true
	}
	return Election{}, false
}
