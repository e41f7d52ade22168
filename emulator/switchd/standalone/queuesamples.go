package standalone

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/netns"
	"lightloom/emulator/target"
)

// sampleEvery is how far apart samples of what waits at the ports are, or more: they take no more than
// sampleShare of a processor.
const (
	sampleEvery = 50 * time.Millisecond
	sampleShare = 0.01
)

// queueSamples sum up what was seen to wait at ports.
type queueSamples struct {
	mu     sync.Mutex
	number uint64
	most   []uint64
	sum    []uint64
}

// add counts one look: bytes by port.
func (l *queueSamples) add(waits []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.number == 0 {
		l.most, l.sum = make([]uint64, len(waits)), make([]uint64, len(waits))
	}
	l.number++
	for i, n := range waits {
		l.most[i] = max(l.most[i], n)
		l.sum[i] += n
	}
}

// put adds the samples to the other counters of the ports.
func (l *queueSamples) put(counts []target.PortCount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.number == 0 {
		return
	}
	for i := range counts {
		counts[i].Looks = target.QueueSamples{Number: l.number, Most: l.most[i], Mean: l.sum[i] / l.number}
	}
}

// sampleQueues samples what waits at the ports until ctx ends.
func (s *switchProcess) sampleQueues(ctx context.Context) error {
	timer := time.NewTimer(sampleEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		began := time.Now()
		waits, err := s.ports.waits()
		if err != nil {
			s.cfg.Log.Warn("look at queues", "error", err) // of a port that was taken away, perhaps
		} else {
			if parked := s.parked(); parked > 0 {
				waits[slices.Index(s.cfg.Ports, s.cfg.Fibre)] += parked
			}
			s.looks.add(waits)
		}
		timer.Reset(max(sampleEvery, time.Duration(float64(time.Since(began))/sampleShare)))
	}
}

// queued is how many bytes wait for the fibre's light.
func (s *switchProcess) parked() (sum uint64) {
	if p, ok := s.plane.(*ebpf.Plane); ok && s.cfg.VOQBytes > 0 {
		for _, c := range p.Queued() {
			sum += uint64(c.Bytes)
		}
	}
	return sum
}

// waits reads what waits at the ports now, in bytes. A port without a shaper (HTB) has nothing that waits.
func (p *ports) waits() ([]uint64, error) {
	shaped, err := netns.RootCounts(p.nl)
	if err != nil {
		return nil, fmt.Errorf("look at queues: %w", err)
	}
	out := make([]uint64, len(p.index))
	for i, index := range p.index {
		out[i] = uint64(shaped[index].Backlog)
	}
	return out, nil
}
