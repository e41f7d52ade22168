package run

import (
	"context"
	"errors"
	"time"

	"lightloom/emulator/netns"
)

// lookEvery is how far apart looks at the queues of real packets are: each reads the counters of every namespace.
const lookEvery = 50 * time.Millisecond

// lookAtQueues looks at what waits at every port until the function that it returns is called, which returns what came
// of it, bytes and drops counted from the counters given. It does nothing where nobody has asked.
func (s *stage) lookAtQueues(ctx context.Context) func(since netns.Counters) ([]portLoad, error) {
	if !s.order.Queues {
		return func(netns.Counters) ([]portLoad, error) { return nil, nil }
	}
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

// look sums up what waits by link until ctx ends: the largest, and the mean of all looks.
func (s *stage) look(ctx context.Context) ([]portLoad, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	loads := make([]portLoad, len(s.fabric.Topology.Links()))
	for n := 1.0; ; n++ {
		c, err := s.plant.net.Counters()
		if err != nil {
			return nil, err
		}
		for l := range loads {
			b := float64(c.Links[l].Backlog)
			loads[l].Max = max(loads[l].Max, b)
			loads[l].Mean += (b - loads[l].Mean) / n
		}
		select {
		case <-ctx.Done():
			return loads, nil
		case <-tick.C:
		}
	}
}
