package replica

import (
	"fmt"
	"os"
	"path/filepath"

	"lightloom/controller/replica/rollcall"
)

// The words of package rollcall.
type (
	// Peer is one replica of the cluster.
	Peer = rollcall.Peer
	// Member is a replica as the log has it.
	Member = rollcall.Member
)

// ErrBack says that the disk is older than what others have seen of this replica. The process must
// start again, and learns then.
var ErrBack = rollcall.ErrBack

// Standing returns how far the node takes part since it started, and what it waits for or why it learns.
func (n *Node) Standing() (s rollcall.Standing, why string) { return n.roll.Standing() }

// Trust has a node take part at once that waits or learns: somebody vouches that its disk holds all
// that the replica has acknowledged, or that nothing better is left.
func (n *Node) Trust() { n.roll.Trust() }

// Troubles returns what this node has seen of its peers that should not be, by peer.
func (n *Node) Troubles() []rollcall.Trouble { return n.roll.Troubles() }

// Started names this start of the replica on its disk: no other start has the same name.
func (n *Node) Started() string { return n.roll.Started() }

// ReadStarted returns the name of the newest start on a directory, which a node can use meanwhile.
func ReadStarted(dir string) (string, error) {
	path := filepath.Join(dir, VoteFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read starts: %w", err)
	}
	newest, best := rollcall.Memory{}, uint64(0)
	for len(raw) >= slotBytes {
		if k, seq, err := decodeSlot(raw[:slotBytes]); err == nil && seq > best {
			newest, best = k.Memory, seq
		}
		raw = raw[slotBytes:]
	}
	if len(newest.Own) == 0 {
		return "", fmt.Errorf("read starts: %q holds none", path)
	}
	return newest.Now().String(), nil
}
