package leader_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// TestCancel: a job that waits or runs is ended, one that has ended stays as it is, and one that there
// is not is said.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		submit := func(name string) {
			job := bare(name, controller.Flow{Src: 0, Dst: 1, Bytes: 10})
			if err := l.leader.Submit(t.Context(), offer(job)); err != nil {
				t.Fatal(err)
			}
		}
		submit("first")
		l.until(time.Minute, "the first job to end", l.finished(1))
		submit("second")
		ended := func(id controller.JobID) (at time.Duration) {
			l.log.View(func(uint64) { at = l.state.Job(id).Ended })
			return at
		}
		before := ended(0)
		if ended(1) != state.Unset || before == state.Unset {
			t.Fatalf("the first job ended at %v, the second at %v", before, ended(1))
		}
		for _, id := range []controller.JobID{1, 1, 0} { // the second time there is nothing to do
			if err := l.leader.Cancel(t.Context(), id); err != nil {
				t.Errorf("cancel %d: %v", id, err)
			}
		}
		if ended(1) == state.Unset || ended(0) != before {
			t.Errorf("the second job ended at %v, the first at %v and before at %v", ended(1), ended(0), before)
		}
		if err := l.leader.Cancel(t.Context(), 7); !errors.Is(err, loop.ErrNoJob) {
			t.Errorf("cancel no job: %v", err)
		}
		l.end()
		if err := (*leader.Leader)(nil).Cancel(t.Context(), 0); !errors.Is(err, leader.ErrVacant) {
			t.Errorf("cancel without a leader: %v", err)
		}
	})
}
