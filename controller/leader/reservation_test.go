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

// TestReserve: a request that fits is granted once it is in the log; one that does not fit is refused
// with the reason. Bandwidth given back can be granted again, and no caller waits for ever when the
// leadership ends.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		request := loop.BandwidthRequest{Request: "a", Src: 0, Dst: 1, Rate: 900 * pathmap.Mbps}
		a, err := l.leader.Reserve(t.Context(), request)
		if err != nil || a.ID != 1 || len(a.Links) != 4 {
			t.Fatal(a, err)
		}
		if again, err := l.leader.Reserve(t.Context(), request); err != nil || again.ID != a.ID {
			t.Error(again, err)
		}
		// a tenth of 1 Gb/s stays with others
		more := loop.BandwidthRequest{Request: "b", Src: 0, Dst: 1, Rate: 901 * pathmap.Mbps}
		if _, err := l.leader.Reserve(t.Context(), more); !errors.Is(err, state.ErrNoRoom) {
			t.Error(err)
		}
		if err := l.leader.Release(t.Context(), a.ID); err != nil {
			t.Error(err)
		}
		if err := l.leader.Release(t.Context(), a.ID); !errors.Is(err, loop.ErrNoBandwidthReservation) {
			t.Error(err)
		}
		request.Request, request.Lifetime = "c", time.Second
		if _, err := l.leader.Reserve(t.Context(), request); err != nil {
			t.Error(err)
		}
		l.until(2*time.Second, "the lifetime to end", func() (over bool) {
			l.log.View(func(uint64) { over = len(l.state.BandwidthReservations()) == 0 })
			return over
		})
		l.end()
		if _, err := l.leader.Reserve(t.Context(), request); !errors.Is(err, leader.ErrStopped) {
			t.Error(err)
		}
		var vacant *leader.Leader
		if _, err := vacant.Reserve(context.Background(), request); !errors.Is(err, leader.ErrVacant) ||
			!errors.Is(vacant.Release(context.Background(), 1), leader.ErrVacant) {
			t.Error(err)
		}
	})
}
