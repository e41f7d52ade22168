package replica

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Stats are figures for the report. Latencies are those of the last 4,096 successful appends of this node.
type Stats struct {
	Leader        string        // empty while unknown
	Term          uint64        // the newest this node knows of
	LeaderChanges int           // leaders this node has seen after the first
	OutageTotal   time.Duration // without a known leader after the first, from the last word of the old one
	OutageLongest time.Duration
	Applied       uint64 // index of the last entry the machine holds
	Committed     uint64 // index that is known to be held by a majority
	LastIndex     uint64 // index of the log's last entry
	Appends       uint64 // successful ones of this node
	CommitP50     time.Duration
	CommitP99     time.Duration
	DiskFailing   bool   // the disk takes no writes at the moment: Disk is the error
	DiskFailures  uint64 // operations on the disk that failed
}

// Stats returns the figures as they stand.
func (n *Node) Stats() Stats {
	s := Stats{Term: n.raft.CurrentTerm(), Committed: n.raft.CommitIndex(), LastIndex: n.raft.LastIndex(),
		Applied: n.Applied()}
	s.Appends, s.CommitP50, s.CommitP99 = n.times.figures()
	sick, _, failures := n.store.health.state()
	s.DiskFailing, s.DiskFailures = sick != nil, failures
	t := n.track
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Leader, s.LeaderChanges, s.OutageTotal, s.OutageLongest = t.leader, t.changes, t.total, t.longest
	return s
}

// LeaderChanges is that of Stats, and costs next to nothing.
func (n *Node) LeaderChanges() int {
	n.track.mu.Lock()
	defer n.track.mu.Unlock()
	return n.track.changes
}

const latencyWindow = 4096

// latencies keeps the last few durations.
type latencies struct {
	mu   sync.Mutex
	n    uint64
	ring []time.Duration
}

func newLatencies() *latencies { return &latencies{} }

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < latencyWindow {
		l.ring = append(l.ring, d)
	} else {
		l.ring[l.n%latencyWindow] = d
	}
	l.n++
}

func (l *latencies) figures() (n uint64, p50, p99 time.Duration) {
	l.mu.Lock()
	sorted := slices.Clone(l.ring)
	n = l.n
	l.mu.Unlock()
	slices.Sort(sorted)
	return n, percentile(sorted, 0.50), percentile(sorted, 0.99)
}

// percentile is the nearest-rank one: the ⌈q·n⌉-th smallest.
func percentile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
