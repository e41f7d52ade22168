package emulated

import (
	"context"
	"errors"
	"time"

	"lightloom/emulator/netns"
	"lightloom/lab/outcome"
	"lightloom/pathmap"
)

// lookEvery is the interval between samples of the queues of real packets. A sample reads the counters
// of the switches' namespace, and with --per-queue those of every host's.
const lookEvery = 50 * time.Millisecond

// sampleQueues samples every port's queue until the returned function is called. That returns the
// loads, with bytes and drops counted from the counters given. Queues in hosts are 0 without
// --per-queue.
func (s *Testbed) sampleQueues(ctx context.Context) func(since netns.Counters) ([]outcome.PortLoad, error) {
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
		acks := make([]pathmap.Bytes, len(r.loads))
		if s.Config.Rules.PerQueue != "" {
			if acks, err = s.Packets.Net.Acknowledged(); err != nil {
				return nil, err
			}
		}
		for l := range r.loads {
			r.loads[l].Acks = acks[l]
			r.loads[l].Bytes = last.Links[l].Bytes - since.Links[l].Bytes
			r.loads[l].Drops = int64(last.Links[l].QueueDrops - since.Links[l].QueueDrops)
		}
		return r.loads, nil
	}
}

// backlogs returns the present queue length of every link.
func (s *Testbed) backlogs() ([]int64, error) {
	if s.Config.Rules.PerQueue == "" {
		return s.Packets.Net.Backlogs()
	}
	c, err := s.Packets.Net.Counters()
	waits := make([]int64, len(c.Links))
	for l := range waits {
		waits[l] = c.Links[l].Backlog
	}
	return waits, err
}

// lookShare bounds the processor time of samples without --per-queue: one sample takes 1.5 ms at 8
// racks, 6 ms at 32.
const lookShare = 0.01

// look samples the queues until ctx ends: by link, the largest and the mean of all samples.
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
		if s.Config.Rules.PerQueue == "" {
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
