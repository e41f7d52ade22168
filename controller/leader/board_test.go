package leader_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// memCounter counts at every port of a device: a fixed number of bytes a second in, twice as many out,
// and a drop a second. Its streams break on request, and it restarts at zero then.
type memCounter struct {
	ports  int32
	each   uint64
	breaks chan struct{}
}

// Counters implements southbound.Counting.
func (d *memDevice) Counters(ctx context.Context, every time.Duration,
	tell func([]southbound.PortCounters)) error {
	d.mu.Lock()
	d.counted++
	d.mu.Unlock()
	if d.counter == nil {
		return southbound.ErrUnsupported
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for began := time.Now(); ; {
		at := time.Since(began)
		n := uint64(at) * d.counter.each / uint64(time.Second)
		var out []southbound.PortCounters
		for p := range southbound.Port(d.counter.ports) {
			out = append(out, southbound.PortCounters{Port: p, At: at, InOctets: n, OutOctets: 2 * n,
				OutDiscards: uint64(at / time.Second)})
		}
		tell(out)
		select {
		case <-tick.C:
		case <-d.counter.breaks:
			return errLost
		case <-ctx.Done():
			return nil
		}
	}
}

// spy is greedy and keeps what it saw of links.
type spy struct {
	greedy
	mu    sync.Mutex
	links []controller.LinkRate
}

func (s *spy) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = slices.Clone(v.Links)
	return s.greedy.Decide(v, ev)
}

// TestLinksReachPolicies: the counts of one device become the rates of its links in the view, and of no
// others. The rates of a device whose stream broke are unknown until it has reported twice again.
func TestLinksReachPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &spy{greedy: greedy{lasts: time.Second}}
		l := newLab(t, 1, p)
		tor := l.fabric.ToRNode[0]
		c := &memCounter{ports: l.fabric.Topology.Ports(tor), each: 1000, breaks: make(chan struct{})}
		l.devices[tor].counter = c
		l.run()
		<-l.leader.Ready()
		see := func(request string) []controller.LinkRate {
			job := bare(request, controller.Flow{Src: 0, Dst: 1, Bytes: 1000})
			if err := l.leader.Submit(t.Context(), offer(job)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.links
		}
		wait(t.Context(), 205*time.Millisecond)
		links := see("a")
		if len(links) != len(l.fabric.Topology.Links()) {
			t.Fatalf("%d links are known of, want %d", len(links), len(l.fabric.Topology.Links()))
		}
		for id, got := range links {
			link := l.fabric.Topology.Link(pathmap.LinkID(id))
			var want controller.LinkRate
			switch {
			case link.From == tor:
				want = controller.LinkRate{Rate: 16_000, Span: 20 * time.Millisecond}
			case link.To == tor && l.fabric.Topology.Node(link.From).Role == pathmap.Host:
				want = controller.LinkRate{Rate: 8_000, Span: 20 * time.Millisecond}
			}
			if known := got.At > 0; known != (want.Span > 0) {
				t.Errorf("link %d came in at %v", id, got.At)
			}
			// A sample that came before the last was taken up has replaced it: the rate is then of two periods.
			if got.Rate != want.Rate || got.Drops != want.Drops || (got.Span > 0) != (want.Span > 0) ||
				got.Span%(20*time.Millisecond) != 0 {
				t.Errorf("link %d: %+v, want %+v, or of several spans", id, got, want)
			}
		}
		c.breaks <- struct{}{}
		wait(t.Context(), 22*time.Millisecond) // the stream is back after 5 ms, and has reported once
		if i := slices.IndexFunc(see("b"), func(r controller.LinkRate) bool { return r.Span > 0 }); i >= 0 {
			t.Errorf("link %d is known after one sample", i)
		}
		wait(t.Context(), 100*time.Millisecond)
		if i := slices.IndexFunc(see("c"), func(r controller.LinkRate) bool { return r.Rate == 16_000 }); i < 0 {
			t.Error("nothing is known although the stream is back")
		}
		l.end()
	})
}

// TestDevicesThatDoNotCount: a device that counts nothing is asked for its counters once, and none is
// logged as broken.
func TestDevicesThatDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, &greedy{lasts: time.Second})
		l.run()
		<-l.leader.Ready()
		<-time.After(time.Minute) // of the bubble
		synctest.Wait()
		for id, d := range l.devices {
			d.mu.Lock()
			if d.counted != 1 {
				t.Errorf("device %d was asked for its counters %d times, want once", id, d.counted)
			}
			d.mu.Unlock()
		}
		l.end()
	})
}
