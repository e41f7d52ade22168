package collective

import (
	"fmt"
	"time"

	"lightloom/pathmap"
)

// Kind is a collective operation. With k chunks a node, chunks are numbered by node: chunk k·i+j is the j-th of node i.
type Kind int

// The collectives.
const (
	// KindAllGather brings every chunk, which begins at its node, to all nodes.
	KindAllGather Kind = iota
	// KindReduceScatter adds up the parts that all nodes have of each chunk, at the chunk's node.
	KindReduceScatter
	// KindAllToAll brings chunk number (i·nodes + j)·k + m of node i to node j.
	KindAllToAll
)

func (k Kind) String() string { return [...]string{"all-gather", "reduce-scatter", "all-to-all"}[k] }

// Send is a chunk on a link from an instant on.
type Send struct {
	Chunk, Link int32
	At          time.Duration
}

// Schedule is what the links of a network carry when. A node sends on what it has received in whole.
type Schedule struct {
	Kind   Kind
	Chunks int           // of a node, or of a pair in an all-to-all
	Bytes  pathmap.Bytes // of a chunk
	Sends  []Send        // in the order in which they begin
	Ends   time.Duration // when the last chunk has arrived
}

// checkChunks refuses what cannot be planned.
func checkChunks(n *Network, chunks int, bytes pathmap.Bytes) error {
	if err := n.Check(); err != nil {
		return err
	}
	if chunks < 1 || chunks*n.Nodes > MaxChunks {
		return fmt.Errorf("plan collective: %d chunks a node; take 1 to %d on %d nodes", chunks, MaxChunks/n.Nodes, n.Nodes)
	}
	if bytes < 1 {
		return fmt.Errorf("plan collective: chunks of %d bytes; take 1 at least", bytes)
	}
	return nil
}
