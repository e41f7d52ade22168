package emulated

import (
	"context"
	"errors"
	"time"

	"lightloom/cmd/lightloom/internal/outcome"
	"lightloom/emulator/netns"
)

// lookEvery is how far apart looks at the queues of real packets are: each reads the counters of the switches'
// namespace, and of every host's too where a line a port was asked for.
const lookEvery = 50 * time.Millisecond

// lookAtQueues looks at what waits at every port until the function that it returns is called, which returns what came
// of it, bytes and drops counted from the counters given. What waits in hosts is 0 where no line a port was asked for.
func (s *Testbed) lookAtQueues(ctx context.Context) func(since netns.Counters) ([]outcome.PortLoad, error) {
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		loads []outcome.PortLoad
		err   error
	}
	done := make(chan result, 1)
	go func() {
		loads, err := s.look(ctx)
		done <- result{loads, err}
	}()
	return func(since netns.Counters) ([]outcome.PortLoad, error) {
		cancel()
		r := <-done
		last, err := s.Packets.Net.Counters()
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
func (s *Testbed) backlogs() ([]int64, error) {
	if !s.Config.Record.Queues {
		return s.Packets.Net.Backlogs()
	}
	c, err := s.Packets.Net.Counters()
	waits := make([]int64, len(c.Links))
	for l := range waits {
		waits[l] = c.Links[l].Backlog
	}
	return waits, err
}

// lookShare bounds the time that looks take where nobody has asked for them: a look at 8 racks takes 1.5 ms of a
// processor, one at 32 racks 6 ms.
const lookShare = 0.01

// look sums up what waits by link until ctx ends: the largest, and the mean of all looks.
func (s *Testbed) look(ctx context.Context) ([]outcome.PortLoad, error) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	loads := make([]outcome.PortLoad, len(s.Topo.Topology.Links()))
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
		if !s.Config.Record.Queues {
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
