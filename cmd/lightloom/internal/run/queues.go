package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// lookEvery is how far apart looks at the queues of real packets are: each reads the counters of the switches' namespace,
// and of every host's too where a line a port was asked for.
const lookEvery = 50 * time.Millisecond

// lookAtQueues looks at what waits at every port until the function that it returns is called, which returns what came
// of it, bytes and drops counted from the counters given. What waits in hosts is 0 where no line a port was asked for.
func (s *stage) lookAtQueues(ctx context.Context) func(since netns.Counters) ([]portLoad, error) {
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		loads []portLoad
		err   error
	}
	done := make(chan result, 1)
	go func() {
		loads, err := s.look(ctx)
		done <- result{loads, err}
	}()
	return func(since netns.Counters) ([]portLoad, error) {
		cancel()
		r := <-done
		last, err := s.plant.net.Counters()
		if err := errors.Join(r.err, err); err != nil {
			return nil, err
		}
		for l := range r.loads {
			r.loads[l].Bytes = last.Links[l].Bytes - since.Links[l].Bytes
			r.loads[l].Drops = int64(last.Links[l].QueueDrops - since.Links[l].QueueDrops)
		}
		return r.loads, nil
	}
}

// backlogs reads what waits now, by link.
func (s *stage) backlogs() ([]int64, error) {
	if !s.order.Queues {
		return s.plant.net.Backlogs()
	}
	c, err := s.plant.net.Counters()
	waits := make([]int64, len(c.Links))
	for l := range waits {
		waits[l] = c.Links[l].Backlog
	}
	return waits, err
}

// depth is the fullest queue of a switch that was seen on real packets, the first of those that were as full; nil where
// nobody has looked.
func (o *outcome) depth() *report.QueueDepth {
	if o.Fullest != nil {
		return o.Fullest
	}
	if o.Net.Dataplane == "" || len(o.Queues) == 0 {
		return nil
	}
	f, err := topo.New(o.Row.Spec)
	if err != nil || len(f.Topology.Links()) != len(o.Queues) {
		return nil // of another fabric than the row's: nothing can be said of it
	}
	t := f.Topology
	d := &report.QueueDepth{}
	for l, q := range o.Queues {
		link := t.Link(pathmap.LinkID(l))
		if t.Node(link.From).Role == pathmap.Host || d.Port != "" && q.Max <= d.Most {
			continue
		}
		d.Most, d.Mean = q.Max, q.Mean
		d.Port = fmt.Sprintf("%s:%d to %s", t.Node(link.From).Name, link.FromPort, t.Node(link.To).Name)
	}
	return d
}

// lookShare bounds the time that looks take where nobody has asked for them: a look at 8 racks takes 1.5 ms of a
// processor, one at 32 racks 6 ms.
const lookShare = 0.01

// look sums up what waits by link until ctx ends: the largest, and the mean of all looks.
func (s *stage) look(ctx context.Context) ([]portLoad, error) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	loads := make([]portLoad, len(s.fabric.Topology.Links()))
	for n := 1.0; ; n++ {
		began := time.Now()
		waits, err := s.backlogs()
		if err != nil {
			return nil, err
		}
		for l := range loads {
			b := float64(waits[l])
			loads[l].Max = max(loads[l].Max, b)
			loads[l].Mean += (b - loads[l].Mean) / n
		}
		next := lookEvery
		if !s.order.Queues {
			next = max(next, time.Duration(float64(time.Since(began))/lookShare))
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
			return loads, nil
		case <-timer.C:
		}
	}
}
