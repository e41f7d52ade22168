package training

import (
	"fmt"
	"slices"
	"time"

	"lightloom/pathmap"
)

// Workload is what a training job does, once or for some iterations.
type Workload struct {
	Name   string
	Ranks  []Rank  // by number; a rank is one accelerator
	Groups []Group // communicators; World first
	Skews  [][]float64
}

// World is the place of the communicator of all ranks in Workload.Groups.
const World = 0

// Group is a communicator: its ranks, in the order of its rings.
type Group struct {
	Name  string
	Ranks []int32
}

// Rank is what one rank does.
type Rank struct {
	File  string // where it was read, for errors; may be empty
	Nodes []Node
}

// Node is one step of a rank. It begins when all nodes that it waits for have ended and its engine is free: a rank
// computes one node at a time.
type Node struct {
	ID    uint64
	Name  string
	Kind  Kind
	After []int32 // places of nodes of the same rank
	Phase Phase

	Duration time.Duration // of Compute
	CPU      bool          // Compute that keeps the accelerator free
	Ops      int64         // of Compute, floating-point operations; 0 where not known
	Tensor   pathmap.Bytes // read and written by Compute; 0 where not known

	Op       Op            // of Collective
	Bytes    pathmap.Bytes // of a collective: see Op; of Send and Receive: the message
	Group    int32         // of a collective: its place in Workload.Groups
	Skew     int32         // of AllToAll: 1 + its place in Workload.Skews; 0 where all get the same
	Combine  bool          // of a skewed AllToAll: what rank j sends is what it got before, so the shares are the senders'
	Dims     []bool        // of a collective, the dimensions of the network that take part; nil: all
	Priority int32

	Peer int32 // of Send and Receive
	Tag  int32
}

// Kind is what a node does.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota // metadata: it ends when it begins
	Compute
	Collective
	Send
	Receive
)

// String returns the kind's word.
func (k Kind) String() string {
	return [...]string{"nothing", "compute", "collective", "send", "receive"}[k]
}

// Phase is the parallelism that a node belongs to.
type Phase uint8

// The phases.
const (
	NoPhase Phase = iota
	DataParallel
	TensorParallel
	PipelineParallel
	ExpertParallel
)

// String returns the phase's short name; that of NoPhase is empty.
func (p Phase) String() string { return [...]string{"", "DP", "TP", "PP", "EP"}[p] }

// Op is a collective operation. What its Bytes count differs: of AllGather it is what each rank contributes, of all
// others what each rank holds before it.
type Op uint8

// The operations.
const (
	AllReduce Op = iota
	AllGather
	ReduceScatter
	AllToAll
	Broadcast
	Barrier
)

// Ops are all collective operations.
func Ops() []Op { return []Op{AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Barrier} }

// String returns the operation's name.
func (o Op) String() string {
	return [...]string{"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "barrier"}[o]
}

// ParseOp returns the operation of a name.
func ParseOp(s string) (Op, error) {
	i := slices.IndexFunc(Ops(), func(o Op) bool { return o.String() == s })
	if i < 0 {
		return 0, fmt.Errorf("there is no collective %q: write all-reduce, all-gather, reduce-scatter or all-to-all", s)
	}
	return Op(i), nil
}

// BusFactor is what nccl-tests multiply bytes over time with to get the bus bandwidth, which equals the rate of a NIC
// that is never idle: of AllReduce 2(n−1)/n, of ReduceScatter and AllToAll (n−1)/n, of AllGather n−1 by the bytes of
// one rank, of Broadcast 1. A barrier has none.
func (o Op) BusFactor(n int) float64 {
	switch o {
	case AllReduce:
		return 2 * float64(n-1) / float64(n)
	case ReduceScatter, AllToAll:
		return float64(n-1) / float64(n)
	case AllGather:
		return float64(n - 1)
	case Broadcast:
		return 1
	}
	return 0
}

// NewWorkload returns a workload of n ranks without nodes, whose only communicator is World.
func NewWorkload(name string, n int) *Workload {
	w := &Workload{Name: name, Ranks: make([]Rank, n), Groups: []Group{{Name: "world"}}}
	for r := range n {
		w.Groups[World].Ranks = append(w.Groups[World].Ranks, int32(r))
	}
	return w
}

// Add adds a node to a rank, gives it its place as id, and returns the place.
func (w *Workload) Add(rank int, n Node) int32 {
	r := &w.Ranks[rank]
	n.ID = uint64(len(r.Nodes))
	r.Nodes = append(r.Nodes, n)
	return int32(len(r.Nodes) - 1)
}

// Where names a node, and the file that it stands in.
func (w *Workload) Where(rank, node int) string {
	n := &w.Ranks[rank].Nodes[node]
	at := fmt.Sprintf("node %d of rank %d", n.ID, rank)
	if n.Name != "" {
		at = fmt.Sprintf("node %d (%.60q) of rank %d", n.ID, n.Name, rank)
	}
	if file := w.Ranks[rank].File; file != "" {
		return file + ": " + at
	}
	return at
}
