package leader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
)

// TestReserve: what fits is granted once it is in the log, what does not is refused with the reason, what is given back
// may be had again, and nobody waits for ever when the leadership ends.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		wish := loop.Ask{Request: "a", Src: 0, Dst: 1, Rate: 900 * pathmap.Mbps}
		a, err := l.leader.Reserve(t.Context(), wish)
		if err != nil || a.ID != 1 || len(a.Links) != 4 {
			t.Fatal(a, err)
		}
		if again, err := l.leader.Reserve(t.Context(), wish); err != nil || again.ID != a.ID {
			t.Error(again, err)
		}
		more := loop.Ask{Request: "b", Src: 0, Dst: 1, Rate: 901 * pathmap.Mbps} // a tenth of 1 Gb/s stays with others
		if _, err := l.leader.Reserve(t.Context(), more); !errors.Is(err, state.ErrNoRoom) {
			t.Error(err)
		}
		if err := l.leader.Release(t.Context(), a.ID); err != nil {
			t.Error(err)
		}
		if err := l.leader.Release(t.Context(), a.ID); !errors.Is(err, loop.ErrNoPledge) {
			t.Error(err)
		}
		wish.Request, wish.Lifetime = "c", time.Second
		if _, err := l.leader.Reserve(t.Context(), wish); err != nil {
			t.Error(err)
		}
		l.until(2*time.Second, "the lifetime to end", func() (over bool) {
			l.log.View(func(uint64) { over = len(l.state.Pledges()) == 0 })
			return over
		})
		l.end()
		if _, err := l.leader.Reserve(t.Context(), wish); !errors.Is(err, leader.ErrStopped) {
			t.Error(err)
		}
		var vacant leader.Seat
		if _, err := vacant.Reserve(context.Background(), wish); !errors.Is(err, leader.ErrVacant) || !errors.Is(vacant.Release(context.Background(), 1), leader.ErrVacant) {
			t.Error(err)
		}
	})
}
