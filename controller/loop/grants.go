package loop

import (
	"errors"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
)

// GrantRequest asks for what a certificate's name is granted from now on.
type GrantRequest struct {
	Grant controller.Grant
	// Refused gets the reason why it cannot be granted; success shows in the state. Step calls it, so it
	// must not block; nil disables it.
	Refused func(error)
}

// grantAccess makes an entry of each request that changes anything. Of several for one name the last
// one stands.
func (l *Loop) grantAccess(s *state.State, now time.Duration, all []GrantRequest) {
	for i, a := range all {
		err := s.CheckGrant(a.Grant)
		for _, later := range all[i+1:] {
			if later.Grant.Name == a.Grant.Name && err == nil {
				err = errors.New("another request for the same name came at the same time: ask again")
			}
		}
		switch {
		case err == nil:
			l.pass.add(state.Entry{Kind: state.GrantChanged, At: now, Grant: &a.Grant})
		case !errors.Is(err, state.ErrStale) && a.Refused != nil:
			a.Refused(err)
		}
	}
}
