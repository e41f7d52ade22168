package replica

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// claim is what a leader says of its state: the digest after the entry of that index; 0: it says nothing.
type claim struct {
	index  uint64
	digest [32]byte
}

// claimSize is a fence, an index and a digest.
const claimSize = 8 + 8 + 32

func (c claim) encode(term uint64) []byte {
	b := binary.BigEndian.AppendUint64(fence(term), c.index)
	return append(b, c.digest[:]...)
}

func decodeClaim(ext []byte) (c claim, is bool) {
	if len(ext) != claimSize {
		return c, false
	}
	c.index = binary.BigEndian.Uint64(ext[8:])
	copy(c.digest[:], ext[16:])
	return c, true
}

// comparison holds this replica's state against what leaders say in the log. Each entry with a claim is
// of the state after the one before it, and has every replica hash the state after itself: so all hash
// the same states, and no entry waits for it. An entry that comes while another is hashed is passed
// over.
type comparison struct {
	differs func(error) // ends the node
	work    sync.WaitGroup

	mu   sync.Mutex
	busy bool
	last claim // as this replica has it; of index 0: none
}

// take hashes the state after an entry, once it has compared what the entry claims.
func (c *comparison) take(index uint64, said claim, state Frozen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return
	}
	if own := c.last; own.index != 0 && own.index == said.index && own.digest != said.digest {
		err := fmt.Errorf("after entry %d: its digest is %x, the leader's %x: %w", own.index, own.digest[:6],
			said.digest[:6], ErrApart)
		c.work.Go(func() { c.differs(err) })
		return
	}
	c.busy = true
	c.work.Go(func() {
		own := claim{index, state.Digest()}
		c.mu.Lock()
		c.busy, c.last = false, own
		c.mu.Unlock()
	})
}

// known is what a leader can claim.
func (c *comparison) known() claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// AppendDigest has all replicas compare their states with this leader's: it adds an entry with the
// digest of the state after the last such entry. A replica with another one ends with ErrApart.
// Versions before feature level 6 take it for an entry that they cannot read.
func (n *Node) AppendDigest(ctx context.Context, term uint64) error {
	log := raft.Log{Extensions: n.fsm.compare.known().encode(term)}
	_, err := inBackground(n, ctx, func() raft.ApplyFuture { return n.raft.ApplyLog(log, enqueueWait(ctx)) })
	if err != nil {
		return appendError(err)
	}
	return nil
}

// Compared is the index of the entry after which this replica has hashed its state last.
func (n *Node) Compared() uint64 { return n.fsm.compare.known().index }

// apart ends a node whose state is another than the leader's, and tells the others first.
func (n *Node) apart(err error) {
	n.roll.TellApart(err.Error())
	n.store.health.die(err)
}
