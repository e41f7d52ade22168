package leader_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// faulty decides as greedy does, until a job is there.
type faulty struct {
	greedy
	fail func() *controller.Plan
}

func (f faulty) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	if len(v.Waiting)+len(v.Coflows) > 0 {
		return f.fail()
	}
	return f.greedy.Decide(v, ev)
}

// barring is a watchdog of a controller that was founded with the policy "plain".
func barring(now controller.FabricChange, why string) (controller.FabricChange, bool) {
	return now.Bar(now.Policy, "plain", why, now.Previous, "", "fair")
}

// TestFailingPolicies: a policy that panics or breaks a law is barred by an entry with the reason, and
// the one before it finishes the jobs. Below level 4 its leadership ends with the failure.
func TestFailingPolicies(t *testing.T) {
	for name, tt := range map[string]struct {
		fail  func() *controller.Plan
		level state.Level
		why   string
	}{
		"panics": {func() *controller.Plan { panic("out of light") }, 4, "it panics: out of light"},
		"breaks a law": {func() *controller.Plan {
			return &controller.Plan{Wake: southbound.Never, Place: []controller.Placement{{Job: 99}}}
		}, 4, "it breaks a law: place job 99"},
		"panics in an old cluster": {func() *controller.Plan { panic("out of light") }, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 1, greedy{time.Second})
				if err := l.state.Apply(&state.Entry{Kind: state.ClusterFounded,
					Cluster: &state.Cluster{Epoch: 1, Level: tt.level}}); err != nil {
					t.Fatal(err)
				}
				cfg := l.config(faulty{greedy{time.Second}, tt.fail}, 1)
				cfg.Bar = barring
				if tt.level > 3 {
					cfg.Policy = "new"
					if err := l.state.Apply(&state.Entry{Kind: state.FabricChanged, Cluster: &state.Cluster{
						Fabric: &controller.FabricChange{Generation: 1, Policy: "new", Previous: "good"}}}); err != nil {
						t.Fatal(err)
					}
				}
				l.leader = leader.New(cfg)
				l.run()
				<-l.leader.Ready()
				err := l.leader.Submit(t.Context(), offer(bare("a", controller.Flow{Src: 0, Dst: 2, Bytes: 1e6})))
				if err != nil && !errors.Is(err, leader.ErrStopped) {
					t.Fatal(err)
				}
				err = <-l.ended
				l.stop()
				c := l.state.Change()
				if tt.level < 4 {
					if !errors.Is(err, controller.ErrPolicyFailed) || c.Generation > 0 {
						t.Errorf("%v, %+v", err, c)
					}
					return
				}
				if !errors.Is(err, leader.ErrPolicy) || c.Generation != 2 || c.Policy != "good" ||
					len(c.Barred) != 1 ||
					c.Barred[0] != "new" || !strings.Contains(c.Failure, tt.why) {
					t.Fatalf("%v, %+v", err, c)
				}
				cfg = l.config(greedy{time.Second}, 1)
				cfg.Policy, cfg.Bar = "good", barring
				l.leader = leader.New(cfg)
				l.run()
				l.until(time.Minute, "the job to end", l.finished(1))
				l.end()
			})
		})
	}
}

// TestStallingPolicy: whoever is to end the process is told of a policy that does not answer, once,
// with the entry that bars it.
func TestStallingPolicy(t *testing.T) {
	l := newLab(t, 1, greedy{time.Second})
	answer := make(chan struct{})
	told := make(chan controller.FabricChange, 2)
	cfg := l.config(faulty{greedy{time.Second}, func() *controller.Plan {
		<-answer
		return &controller.Plan{Wake: southbound.Never}
	}}, 1)
	cfg.Watchdog = leader.Watchdog{Bar: func(now controller.FabricChange, why string) (controller.FabricChange, bool) {
		return now.Bar("plain", "plain", why, now.Previous, "", "fair")
	}, Limit: 50 * time.Millisecond, Stalled: func(next controller.FabricChange, ok bool) {
		if !ok {
			t.Error("no other policy is left")
		}
		told <- next
	}}
	l.leader = leader.New(cfg)
	l.run()
	<-l.leader.Ready()
	submitted := make(chan error, 1)
	go func() {
		submitted <- l.leader.Submit(t.Context(), offer(bare("a", controller.Flow{Src: 0, Dst: 2, Bytes: 1e6})))
	}()
	next := <-told // in real time: what waits for the state waits for a mutex
	if next.Policy != "fair" || next.Barred[0] != "plain" ||
		!strings.Contains(next.Failure, "not answered for 50ms") {
		t.Errorf("%+v", next)
	}
	close(answer)
	if err := <-submitted; err != nil {
		t.Error(err)
	}
	l.end()
	if len(told) > 0 {
		t.Error("told twice")
	}
}
