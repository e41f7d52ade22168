package leader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/southbound"
)

// unfenced is a device without arbitration.
type unfenced struct{ *memDevice }

func (d unfenced) Set(ctx context.Context, c *southbound.Change) error {
	return d.call(ctx, func() { d.set(c) })
}

func (d unfenced) Read(ctx context.Context) (seen southbound.Seen, err error) {
	err = d.call(ctx, func() { seen = d.seen() })
	return seen, err
}

// TestClaims: every device is claimed. A device that knows a larger election id is listed with the
// reason, gets no writes and blocks no other device; once it can be claimed, it is claimed and
// configured. A device without arbitration is listed and written to.
func TestClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		foreign, _ := l.fabric.Topology.Named("tor3")
		open, _ := l.fabric.Topology.Named("spine1")
		l.devices[foreign].fence = 9
		l.doors[open] = unfenced{l.devices[open]}
		l.leader = leader.New(l.config(greedy{time.Second}, 1))
		if got := l.leader.Claims(); len(got) != len(l.devices) || got[0].State != leader.Unclaimed ||
			got[0].Err != nil {
			t.Errorf("before it begins: %+v", got)
		}
		l.run()
		<-l.leader.Ready()
		if got := l.clock(); got != 50*time.Millisecond {
			t.Errorf("ready after %v, want the patience of 50ms", got)
		}
		job := bare("one", controller.Flow{Src: 0, Dst: 1, Bytes: 10})
		if err := l.leader.Submit(t.Context(), offer(job)); err != nil {
			t.Fatal(err)
		}
		l.until(100*time.Millisecond, "a circuit of other switches", l.inService(0))
		l.until(time.Second, "the job to end", l.finished(1))
		for _, c := range l.leader.Claims() {
			want, why := leader.Fenced, error(nil)
			switch c.Device {
			case foreign:
				want, why = leader.Unclaimed, southbound.ErrNotLeader
			case open:
				want, why = leader.Unfenced, southbound.ErrUnfenced
			}
			if c.State != want || !errors.Is(c.Err, why) {
				t.Errorf("device %d is %v (%v), want %v (%v)", c.Device, c.State, c.Err, want, why)
			}
		}
		d := l.devices[foreign]
		d.mu.Lock()
		if len(d.sets) > 0 || len(d.rules) > 0 {
			t.Errorf("a device of another controller took %d Sets and has %d rules", len(d.sets), len(d.rules))
		}
		d.fence = 0
		d.mu.Unlock()
		l.until(time.Second, "the device to hold what it should", func() bool { return l.astray() == "" })
		for _, c := range l.leader.Claims() {
			if c.State == leader.Unclaimed {
				t.Errorf("still unclaimed: %+v", c)
			}
		}
		l.end()
	})
}

// TestDeposed: a device that learns of a larger election id in mid-term is listed, and nothing more is
// written to it.
func TestDeposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{20 * time.Millisecond})
		l.run()
		<-l.leader.Ready()
		d := l.devices[l.fabric.OCSNode]
		d.mu.Lock()
		d.fence = 2
		d.mu.Unlock()
		if err := l.leader.Submit(t.Context(), offer(bare("one",
			controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
			t.Fatal(err)
		}
		l.until(time.Second, "the job to end", l.finished(1))
		d.mu.Lock()
		if len(d.sets) > 0 {
			t.Errorf("a leader that is deposed there had %d Sets accepted", len(d.sets))
		}
		d.mu.Unlock()
		all := l.leader.Claims()
		i := slices.IndexFunc(all, func(c leader.Claim) bool { return c.Device == l.fabric.OCSNode })
		if all[i].State != leader.Unclaimed || !errors.Is(all[i].Err, southbound.ErrNotLeader) {
			t.Errorf("it is listed as %+v", all[i])
		}
		l.end()
	})
}

// stubborn is a device that refuses circuits until it is told not to.
type stubborn struct {
	door
	gives atomic.Bool
}

func (s *stubborn) Set(ctx context.Context, c *southbound.Change) error {
	wait(ctx, time.Millisecond) // a leader that tries again at once would never see time pass
	if len(c.Connect) > 0 && !s.gives.Load() {
		return fmt.Errorf("laser safety: %w", southbound.ErrRefused)
	}
	return s.door.Set(ctx, c)
}

// TestRefusalsAreListed: a device that refuses a change is listed with the reason until it takes one;
// others are not.
func TestRefusalsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{20 * time.Millisecond})
		ocs := l.fabric.OCSNode
		d := &stubborn{door: door{l.devices[ocs], 1}}
		l.doors[ocs] = d
		l.leader = leader.New(l.config(greedy{20 * time.Millisecond}, 1))
		l.run()
		<-l.leader.Ready()
		if err := l.leader.Submit(t.Context(), offer(bare("one",
			controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
			t.Fatal(err)
		}
		refused := func() (who []southbound.DeviceID) {
			for _, c := range l.leader.Claims() {
				if c.Refused != nil && strings.Contains(c.Refused.Error(), "laser safety") {
					who = append(who, c.Device)
				}
			}
			return who
		}
		l.until(time.Second, "the refusal to be listed", func() bool {
			return slices.Equal(refused(), []southbound.DeviceID{ocs})
		})
		d.gives.Store(true)
		l.until(5*time.Second, "a change to be taken", func() bool { return len(refused()) == 0 })
		l.end()
	})
}

// TestReclaim: a device that restarts and has forgotten the leader is claimed again before it is written to.
func TestReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		for _, d := range l.devices {
			d.become(mood{breaks: 30 * time.Millisecond})
		}
		l.run()
		<-l.leader.Ready()
		for range 20 {
			wait(t.Context(), 50*time.Millisecond)
			for _, d := range l.devices {
				d.mu.Lock()
				d.fence, d.reader, d.rules = 0, 0, nil // its stream breaks within 30 ms
				d.mu.Unlock()
			}
			l.until(200*time.Millisecond, "every device to be claimed and restored", func() bool {
				for _, d := range l.devices {
					d.mu.Lock()
					fence := d.fence
					d.broken = slices.DeleteFunc(d.broken, func(string) bool { return fence == 0 }) // before the break
					d.mu.Unlock()
					if fence != 1 {
						return false
					}
				}
				return l.astray() == ""
			})
		}
		for _, d := range l.devices {
			d.broken = nil
		}
		l.end()
	})
}

// TestTooMuch: a batch that cannot fit an entry of the log is refused at once, one beyond the backlog
// as one that may come again, and all that was taken is committed in entries of the log that are no
// larger than they may be.
func TestTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		cfg := l.config(greedy{time.Second}, 1)
		cfg.Entry, cfg.Backlog = 1<<14, 30_000
		l.leader = leader.New(cfg)
		l.log.most = cfg.Entry
		l.run()
		<-l.leader.Ready()
		large := func(name string, flows int) *controller.Job {
			return bare(name, slices.Repeat([]controller.Flow{{Src: 0, Dst: 1, Bytes: 10}}, flows)...)
		}
		if err := l.leader.Submit(t.Context(), offer(large("whale", 1000))); !errors.Is(err,
			leader.ErrTooLarge) {
			t.Errorf("a job of 30 kB: %v", err)
		}
		two := append(offer(large("a", 300)), offer(large("b", 300))...)
		if err := l.leader.Submit(t.Context(), two); !errors.Is(err, leader.ErrTooLarge) {
			t.Errorf("two jobs of 10 kB in one batch: %v", err)
		}
		pass := make(chan struct{})
		l.log.setGate(func(ctx context.Context) error { <-pass; return nil })
		var done []chan error
		submit := func(name string) {
			c := make(chan error, 1)
			done = append(done, c)
			go func() { c <- l.leader.Submit(t.Context(), offer(large(name, 300))) }()
			synctest.Wait()
		}
		// One is on its way, two of 10 kB wait, and two more do not fit.
		for _, name := range []string{"0", "1", "2", "3", "4"} {
			submit(name)
		}
		for i, c := range done {
			select {
			case err := <-c:
				if i < 3 || !errors.Is(err, leader.ErrBusy) {
					t.Errorf("job %d: %v", i, err)
				}
			default:
				if i >= 3 {
					t.Errorf("job %d waits", i)
				}
			}
		}
		close(pass)
		for _, c := range done[:3] {
			if err := <-c; err != nil {
				t.Error(err)
			}
		}
		if err := l.leader.Submit(t.Context(), offer(large("4", 300))); err != nil {
			t.Errorf("once there is room: %v", err)
		}
		l.end()
	})
}

// TestPoison: three jobs of 2^20 flows, which is what an API call of 32 MiB holds and is more than an
// entry of the log does, are refused within a second, and the leadership goes on.
func TestPoison(t *testing.T) {
	l := newLab(t, 1, greedy{time.Second})
	l.run()
	<-l.leader.Ready()
	flows := slices.Repeat([]controller.Flow{{Src: 0, Dst: 1, Bytes: 10}}, controller.MaxFlows)
	poison := append(append(offer(bare("a", flows...)), offer(bare("b", flows...))...),
		offer(bare("c", flows...))...)
	began := time.Now()
	if err := l.leader.Submit(t.Context(), poison); !errors.Is(err, leader.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("refused after %v", took)
	}
	if err := l.leader.Submit(t.Context(), offer(bare("d", flows[:1]...))); err != nil {
		t.Error(err)
	}
	l.end()
}

// chatty is a device whose first stream reports without end.
type chatty struct {
	door
	told *atomic.Int64
}

func (d chatty) Watch(ctx context.Context, tell func(southbound.DeviceEvent)) error {
	tell(southbound.DeviceEvent{Kind: southbound.Synced})
	for first := d.told.Load() == 0; first && ctx.Err() == nil; {
		d.told.Add(1)
		tell(southbound.DeviceEvent{Kind: southbound.PortDown, In: 0})
	}
	<-ctx.Done()
	return nil
}

// brief is a device whose streams end by themselves; the times at which they began are kept.
type brief struct {
	door
	began *[]time.Time
}

func (d brief) Watch(ctx context.Context, tell func(southbound.DeviceEvent)) error {
	*d.began = append(*d.began, time.Now())
	tell(southbound.DeviceEvent{Kind: southbound.Synced})
	if len(*d.began) > 3 {
		<-ctx.Done()
	}
	return nil
}

// TestWatchedAgain: a stream that ends is opened again after Retry.
func TestWatchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		began := new([]time.Time)
		tor, _ := l.fabric.Topology.Named("tor3")
		l.doors[tor] = brief{door{l.devices[tor], 1}, began}
		conf := l.config(greedy{time.Second}, 1)
		l.leader = leader.New(conf)
		l.run()
		wait(t.Context(), time.Second)
		if len(*began) != 4 {
			t.Fatalf("%d streams, want 4", len(*began))
		}
		for i, at := range (*began)[1:] {
			if gap := at.Sub((*began)[i]); gap < conf.Retry || gap > 2*conf.Retry {
				t.Errorf("stream %d began %v after the one before, want after %v", i+1, gap, conf.Retry)
			}
		}
		l.end()
	})
}

// TestFlood: a device that reports without end, while a step waits for the log, is cut off when it has
// filled its share.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		pass, told := make(chan struct{}), new(atomic.Int64)
		l.log.setGate(func(ctx context.Context) error { <-pass; return nil })
		tor, _ := l.fabric.Topology.Named("tor3")
		l.doors[tor] = chatty{door{l.devices[tor], 1}, told}
		l.leader = leader.New(l.config(greedy{time.Second}, 1))
		l.run()
		job := bare("one", controller.Flow{Src: 0, Dst: 1, Bytes: 10})
		go func() { _ = l.leader.Submit(t.Context(), offer(job)) }() // its step waits for the log
		wait(t.Context(), time.Second)
		if n := told.Load(); n < 1<<16 || n > 1<<17 {
			t.Errorf("it told %d events while nobody took any", n)
		}
		close(pass)
		l.until(2*time.Second, "the job to end", l.finished(1))
		l.end()
	})
}
