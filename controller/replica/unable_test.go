package replica

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// limited is a ledger of an older version: it does not know some entries.
type limited struct{ ledger }

func (l *limited) Read(e []byte) func() error { return func() error { return l.Apply(e) } }

func (l *limited) Apply(e []byte) error {
	if bytes.HasPrefix(e, []byte("new")) {
		return fmt.Errorf("%q: %w", e, ErrUnable)
	}
	return l.ledger.Apply(e)
}

// TestUnable: a replica that cannot apply an entry ends before it applies another, and leaves no
// snapshot; the others go on. On the same log with a machine that can, it holds what they hold.
func TestUnable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 12, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		first := c.leader(ctx)
		old := (first + 1) % 3
		c.kill(old)
		l := &limited{}
		n, err := New(Config{ID: c.peers[old].ID, Peers: c.peers, Memory: c.disks[old], Machine: l,
			Transport: c.net.Transport(raft.ServerAddress(c.peers[old].Addr))})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[old] = n
		for _, e := range []string{"a", "new b", "c"} {
			if _, err := c.nodes[c.leader(ctx)].Append(ctx, []byte(e)); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Leadership(ctx, nil); !errors.Is(err, ErrUnable) || !errors.Is(n.Failed(), ErrUnable) {
			t.Errorf("it ended with %v", err)
		}
		if len(l.entries) > 1 {
			t.Errorf("it has applied %q", l.entries)
		}
		if err := n.Snapshot(); err == nil {
			t.Error("it has written a snapshot of what nobody has agreed on")
		}
		c.kill(old)
		c.start(old)
		c.agree(ctx)
	})
}
