package leader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
)

// TestGrant: a grant is answered once it stands in the state, also where it stood before; others are
// refused.
func TestGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		has := func(want controller.Access) {
			t.Helper()
			l.log.View(func(uint64) {
				if got := l.state.Access("ann"); got != want {
					t.Errorf("ann has %q, not %q", got, want)
				}
			})
		}
		for _, a := range []controller.Access{controller.Tenant, controller.Tenant, controller.Admin, "", ""} {
			if err := l.leader.Grant(t.Context(), controller.Grant{Name: "ann", Access: a}); err != nil {
				t.Fatal(a, err)
			}
			has(a)
		}
		if err := l.leader.Grant(t.Context(), controller.Grant{Name: "ann", Access: "king"}); err == nil {
			t.Error("an access that there is not is granted")
		}
		has("")
		both := make(chan error, 2)
		for _, a := range []controller.Access{controller.Viewer, controller.Admin} {
			go func() { both <- l.leader.Grant(t.Context(), controller.Grant{Name: "ann", Access: a}) }()
		}
		if x, y := <-both, <-both; x != nil && y != nil {
			t.Error(x, y)
		}
		l.end()
		if err := l.leader.Grant(t.Context(), controller.Grant{Name: "ann"}); !errors.Is(err,
			leader.ErrStopped) {
			t.Error(err)
		}
		var vacant *leader.Leader
		if err := vacant.Grant(context.Background(), controller.Grant{}); !errors.Is(err, leader.ErrVacant) {
			t.Error(err)
		}
	})
}
