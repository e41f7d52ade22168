package replica

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// rejoin starts node i anew with an empty log. known lets it know the others' terms; joined is closed once it votes.
func (c *cluster) rejoin(i int, known <-chan uint64) (joined chan struct{}) {
	c.t.Helper()
	joined = make(chan struct{})
	c.disks[i] = NewMemory()
	n, err := New(Config{ID: c.peers[i].ID, Peers: c.peers, Memory: c.disks[i], Machine: &ledger{}, Limits: c.limit,
		Transport: c.net.Transport(raft.ServerAddress(c.peers[i].Addr)),
		Newcomer: &Newcomer{Term: func(ctx context.Context) (uint64, error) {
			select {
			case term := <-known:
				return term, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}, Done: func() error { close(joined); return nil }}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.nodes[i] = n
	return joined
}

// TestNewcomer: a node whose disk was lost gives no vote before it holds all that was acknowledged, and votes then.
// Otherwise the entry would be lost: two of three nodes had acknowledged it, one of them forgot it, the other is down.
func TestNewcomer(t *testing.T) {
	c := newCluster(t, 1, Limits{})
	defer c.close()
	ctx := within(t, time.Minute)
	first := c.leader(ctx)
	behind, wiped := (first+1)%3, (first+2)%3
	for k := range 5 {
		if _, err := c.nodes[first].Append(ctx, fmt.Appendf(nil, "old-%d", k)); err != nil {
			t.Fatal(err)
		}
	}
	c.agree(ctx)
	c.kill(behind)
	if _, err := c.nodes[first].Append(ctx, []byte("acknowledged")); err != nil {
		t.Fatal(err)
	}
	at, want := c.nodes[first].Digest()
	term := c.nodes[first].raft.CurrentTerm()
	c.kill(wiped)
	c.kill(first)

	known := make(chan uint64, 1)
	joined := c.rejoin(wiped, known)
	known <- term
	c.start(behind)
	quiet, cancel := context.WithTimeout(ctx, 2*time.Second) // several elections
	defer cancel()
	if id, _, _, err := c.nodes[behind].AwaitLeader(quiet); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q was elected by a node that has forgotten: %v", id, err)
	}
	c.start(first)
	select {
	case <-joined:
	case <-ctx.Done():
		t.Fatal("it never joined")
	}
	if got, digest := c.nodes[wiped].Digest(); got < at || got == at && digest != want {
		t.Errorf("it has joined at entry %d with %x, want %d with %x", got, digest[:4], at, want[:4])
	}
	c.agree(ctx)
	c.kill(first) // now its vote is needed
	if _, err := c.nodes[c.leader(ctx)].Append(ctx, []byte("after")); err != nil {
		t.Error(err)
	}
}

// TestNewcomerHearsNobodyBefore: a node that does not know the others' terms takes no entry from anybody, and none from
// a leader of an older term later; it can be closed meanwhile.
func TestNewcomerHearsNobodyBefore(t *testing.T) {
	c := newCluster(t, 2, Limits{})
	defer c.close()
	ctx := within(t, time.Minute)
	first := c.leader(ctx)
	wiped := (first + 1) % 3
	c.kill(wiped)
	known := make(chan uint64, 1)
	c.rejoin(wiped, known)
	if _, err := c.nodes[first].Append(ctx, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if n := c.nodes[wiped].raft.LastIndex(); n != 0 {
		t.Errorf("it has taken %d entries from a leader that may be an old one", n)
	}
	known <- c.nodes[first].raft.CurrentTerm() + 1
	if _, err := c.nodes[first].Append(ctx, []byte("b")); err != nil {
		t.Fatal(err)
	}
	if n := c.nodes[wiped].raft.LastIndex(); n != 0 {
		t.Errorf("it has taken %d entries from a leader of an older term", n)
	}
}
