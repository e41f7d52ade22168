package oncircuits

import (
	"errors"
	"fmt"
	"math"
	"time"

	"lightloom/controller/collective"
	"lightloom/controller/topoeng"
	"lightloom/pathmap"
)

// Problem is a collective that is about to begin, and the circuits that stand.
type Problem struct {
	Kind     collective.Kind
	Data     pathmap.Bytes // of a rack, or of a pair in an all-to-all
	Standing topoeng.Topology
	Rate     pathmap.BitsPerSecond // of a circuit
	Latency  time.Duration         // of a circuit and of both its ends
	Delta    time.Duration         // before anything is sent, if any circuit moves
}

// Check returns what is wrong with a problem.
func (p *Problem) Check() error {
	if err := p.Standing.Check(); err != nil {
		return fmt.Errorf("choose circuits: %w", err)
	}
	switch {
	case p.Standing.Pods < 2 || len(p.Standing.Out) == 0:
		return fmt.Errorf("choose circuits: %d racks and %d switches; take 2 and 1 at least", p.Standing.Pods,
			len(p.Standing.Out))
	case p.Data < 1 || p.Rate < 1 || p.Latency < 0 || p.Delta < 0:
		return fmt.Errorf("choose circuits: %d bytes, rate %v, latency %v, delay %v; take 1 byte and 1 bit/s at least, and "+
			"no time below 0", p.Data, p.Rate, p.Latency, p.Delta)
	}
	return nil
}

// Choice is circuits and a schedule over them.
type Choice struct {
	Circuits topoeng.Topology
	Moved    int // circuits that have to go
	Net      *collective.Network
	Schedule *collective.Schedule
	Time     time.Duration // until the collective has ended, the reconfiguration delay included
}

// errApart is what a topology without a path between all racks has.
var errApart = errors.New("choose circuits: some racks are not joined to all others by what stands; let circuits move")

// Network returns the links that circuits are.
func Network(t topoeng.Topology, rate pathmap.BitsPerSecond, latency time.Duration) *collective.Network {
	n := &collective.Network{Nodes: t.Pods}
	for _, out := range t.Out {
		for i, j := range out {
			if j >= 0 {
				n.Links = append(n.Links, collective.Link{From: int32(i), To: j, Rate: rate, Latency: latency})
			}
		}
	}
	return n
}

// plan is a way to schedule the collective on a network.
type plan func(n *collective.Network, chunks int, bytes pathmap.Bytes) (*collective.Schedule, collective.Bounds, error)

func (p *Problem) plan() plan {
	switch p.Kind {
	case collective.KindReduceScatter:
		return collective.ReduceScatter
	case collective.KindAllToAll:
		return collective.AllToAll
	}
	return collective.AllGather
}

// choose returns the best schedule over circuits, in 1, 2, 4 or 8 chunks; false where they do not join all racks.
func (p *Problem) choose(t topoeng.Topology, use plan) (Choice, bool) {
	c := Choice{Circuits: t, Moved: p.Standing.Disturbed(t), Net: Network(t, p.Rate, p.Latency)}
	changed := c.Moved > 0 || t.Disturbed(p.Standing) > 0
	for chunks := 1; chunks <= 8; chunks *= 2 {
		bytes := (p.Data + pathmap.Bytes(chunks) - 1) / pathmap.Bytes(chunks)
		s, _, err := use(c.Net, chunks, bytes)
		if err != nil {
			break
		}
		if c.Schedule == nil || s.Ends < c.Schedule.Ends {
			c.Schedule = s
		}
		if bytes == 1 {
			break
		}
	}
	if c.Schedule == nil {
		return Choice{}, false
	}
	if c.Time = c.Schedule.Ends; changed {
		c.Time += p.Delta
	}
	return c, true
}

// Bound returns what no circuits and no schedule are below, but for the delay: with w switches at most wʰ racks are h
// circuits away (Moore), and what comes from farther away comes later, over w circuits.
func (p *Problem) Bound() time.Duration {
	n, w := p.Standing.Pods, len(p.Standing.Out)
	circuit := float64(w) * float64(p.Rate) / 8
	most, within, hops := 0.0, 0, 0.0
	for h := 1; within < n-1; h++ {
		left := n - 1 - within
		most = max(most, float64(h)*p.Latency.Seconds()+float64(left)*float64(p.Data)/circuit)
		at := min(left, int(min(math.Pow(float64(w), float64(h)), float64(n))))
		within += at
		hops += float64(h * at)
	}
	if p.Kind == collective.KindAllToAll {
		most = max(most, p.Latency.Seconds()+hops*float64(p.Data)/circuit)
	}
	return time.Duration(most * 1e9)
}
