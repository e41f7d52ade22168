package leader_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
)

// TestSubmit submits jobs in all the ways that users can.
func TestSubmit(t *testing.T) {
	good := func(name string) *controller.Job {
		return bare(name, controller.Flow{Src: 0, Dst: 1, Bytes: 10})
	}
	reader := func(name, parent string) *controller.Job {
		return &controller.Job{Name: name, Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}},
			Edges: []controller.Edge{{Reads: &controller.Read{Job: parent, Kind: controller.OneToOne}}}}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		offers []controller.Offer
		want   string // in the error; "" for none
	}{
		{"nothing", nil, nil, ""},
		{"one", nil, offer(good("a")), ""},
		{"two", nil, append(offer(good("b")), offer(good("c"))...), ""},
		{"the same in one batch", nil, append(offer(good("d")), offer(good("d"))...), ""},
		{"the same again", nil, offer(good("a")), ""},
		{"no such host", nil, offer(bare("far", controller.Flow{Src: 0, Dst: 99, Bytes: 10})),
			`job "far": edge 0: flow 0→99: the fabric's hosts are 0 to 3`},
		{"one bad among good", nil, append(offer(good("e")), offer(bare("empty"))...), `job "empty": edge 0: has no flows`},
		{"a circle among good", nil, append(offer(good("e")),
			append(offer(reader("x", "y")), offer(reader("y", "x"))...)...),
			`none could begin: "x" reads from "y" reads from "x"`},
		{"a parent that comes later", nil, offer(reader("x", "y")), ""},
		{"a child before its parent", nil, append(offer(reader("x", "y")), offer(reader("y", "z"))...), ""},
		{"no request", nil, []controller.Offer{{Job: good("f")}}, `job "f": no request id`},
		{"nobody waits", canceled, offer(good("g")), "context canceled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 1, greedy{time.Second})
				l.run()
				before := offer(good("a"))
				if err := l.leader.Submit(t.Context(), before); err != nil {
					t.Fatal(err)
				}
				ctx := tt.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				err := l.leader.Submit(ctx, tt.offers)
				switch {
				case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("%v, want %q", err, tt.want)
				}
				synctest.Wait()
				known := map[string]bool{"a": true}
				if tt.want == "" || tt.ctx != nil {
					for _, o := range tt.offers {
						known[o.Request] = true
					}
				}
				l.log.View(func(uint64) {
					if n := len(l.state.Data().Jobs); n != len(known) {
						t.Errorf("%d jobs were taken, want %d", n, len(known))
					}
				})
				l.end()
			})
		})
	}
}

// TestLeadershipLost loses the leadership while jobs are being submitted: a caller whose jobs are not
// in the log gets an error of unknown outcome, and no caller waits for ever.
func TestLeadershipLost(t *testing.T) {
	refusal := errors.New("this replica does not lead")
	for _, tt := range []struct {
		name string
		gate func(ctx context.Context) error
		stop bool // the context ends, as when the log knows better; else the log refuses
		want error
	}{
		{"the log refuses", func(context.Context) error { return refusal }, false, refusal},
		{"the log hangs", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 1, greedy{time.Second})
				var current leader.Current
				if err := current.Leader().Submit(t.Context(),
					offer(bare("early", controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); !errors.Is(
					err, leader.ErrVacant) {
					t.Errorf("without a leadership it answers %v, want ErrVacant", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- current.Run(ctx, 1, l.leader) }()
				<-l.leader.Ready()
				if !current.Ready() {
					t.Error("it is not ready, its leader is")
				}
				if err := current.Leader().Submit(t.Context(),
					offer(bare("taken", controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
					t.Fatal(err)
				}
				l.log.mu.Lock()
				l.log.gate = tt.gate
				l.log.mu.Unlock()
				var wg sync.WaitGroup
				for i := range 5 {
					wg.Go(func() {
						err := l.leader.Submit(t.Context(),
							offer(bare(fmt.Sprint("late", i), controller.Flow{Src: 0, Dst: 1, Bytes: 10})))
						if !errors.Is(err, leader.ErrStopped) {
							t.Errorf("a job handed over before the end: %v, want ErrStopped", err)
						}
					})
				}
				synctest.Wait()
				if tt.stop {
					cancel()
				}
				if err := <-ended; !errors.Is(err, tt.want) || (tt.want == nil && err != nil) {
					t.Errorf("the leadership ended with %v, want %v", err, tt.want)
				}
				wg.Wait()
				if err := l.leader.Submit(t.Context(),
					offer(bare("after", controller.Flow{Src: 0, Dst: 1,
						Bytes: 10}))); !errors.Is(err, leader.ErrStopped) {
					t.Errorf("after the end: %v, want ErrStopped", err)
				}
				if current.Leader() != nil || current.Ready() {
					t.Error("there is a leadership after its end")
				}
			})
		})
	}
}

// TestArrivalIsTheEntrys: a job arrives when it is in the log, whatever it says, unless it is of a
// recorded run.
func TestArrivalIsTheEntrys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		wait(t.Context(), time.Second)
		for i, recorded := range []bool{false, true} {
			for k, says := range []time.Duration{0, 7 * time.Hour} {
				j := bare(fmt.Sprint(i, k), controller.Flow{Src: 0, Dst: 1, Bytes: 10})
				j.Arrival = says
				now := l.clock()
				o := controller.Offer{Job: j, Request: j.Name, Recorded: recorded}
				if err := l.leader.Submit(t.Context(), []controller.Offer{o}); err != nil {
					t.Fatal(err)
				}
				l.log.View(func(uint64) {
					at := l.state.Job(controller.JobID(2*i + k)).Arrival
					if recorded && at != says || !recorded && (at < now || at > l.clock()) {
						t.Errorf("recorded %v, says %v: arrived %v, submitted at %v", recorded, says, at, now)
					}
				})
				if j.Arrival != says {
					t.Error("the caller's job has been written to")
				}
			}
		}
		l.end()
	})
}

// TestSubmitAgain: who asks again while a batch is on its way to the log, or once a large one is there, adds
// nothing to the log and gets the same answer.
func TestSubmitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		synctest.Wait()
		goOn := make(chan struct{})
		appends := 0
		l.log.setGate(func(context.Context) error { appends++; <-goOn; return nil })
		flows := make([]controller.Flow, 10_000)
		for i := range flows {
			flows[i] = controller.Flow{Src: 0, Dst: 1, Bytes: 10}
		}
		batch := offer(bare("large", flows...))
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.leader.Submit(impatient, batch); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		var again sync.WaitGroup
		for range 3 {
			again.Go(func() {
				if err := l.leader.Submit(t.Context(), batch); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if jobs, bytes := l.leader.Backlog(); jobs != 0 {
			t.Errorf("%d jobs of %d bytes wait for the log", jobs, bytes)
		}
		close(goOn)
		again.Wait()
		synctest.Wait()
		before := appends
		if err := l.leader.Submit(t.Context(), batch); err != nil || appends != before {
			t.Errorf("%v; a batch that is there is written to the log again", err)
		}
		if err := l.leader.Submit(t.Context(), append(batch, offer(bare("other",
			flows...))...)); err != nil || appends == before {
			t.Errorf("%v; a batch of which one job is new is not", err)
		}
		l.end()
	})
}
