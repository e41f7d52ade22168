package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"lightloom/controller/replica/chaos"
	"lightloom/southbound/guard/guardtest"
	"lightloom/southbound/noise"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		appendUntilKilled(dir) // this process is the one that TestKilledProcess kills
		os.Exit(1)
	}
	if guardtest.Main() {
		return
	}
	noise.Waiting(4)
	goleak.VerifyTestMain(m)
}

func TestAppendReachesEveryReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		lead := c.nodes[c.leader(ctx)]
		var last uint64
		for i := range 50 {
			at, err := lead.Append(ctx, fmt.Appendf(nil, "e%d", i))
			if err != nil {
				t.Fatal(err)
			}
			if at <= last {
				t.Fatalf("entry %d has index %d, the one before had %d", i, at, last)
			}
			last = at
		}
		c.agree(ctx)
		for _, n := range c.nodes {
			if got := n.ledger(); len(got) != 50 || got[0] != "e0" || got[49] != "e49" {
				t.Errorf("replica %s holds %d entries: %v", n.ID(), len(got), got)
			}
			if id, addr, term := n.Leader(); id != lead.ID() || addr != lead.ID()+":1" || term == 0 {
				t.Errorf("replica %s says leader %q at %q in term %d", n.ID(), id, addr, term)
			}
		}
		if s := lead.Stats(); s.Appends != 50 || s.CommitP50 > s.CommitP99 || s.Applied != last ||
			s.Leader != lead.ID() {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestAppendErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2, Limits{Entry: 8})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		lead, follower := c.nodes[i], c.nodes[(i+1)%3]
		_, _, term := lead.Leader()
		ended, cancel := context.WithCancel(ctx)
		cancel()
		for _, tc := range []struct {
			name string
			do   func() (uint64, error)
			want error
		}{
			{"follower", func() (uint64, error) { return follower.Append(ctx, []byte("x")) }, ErrNotLeader},
			{"term over", func() (uint64, error) { return lead.AppendIn(ctx, term-1, []byte("x")) }, ErrNotLeader},
			{"term to come", func() (uint64, error) { return lead.AppendIn(ctx, term+1, []byte("x")) },
				ErrNotLeader},
			{"term zero", func() (uint64, error) { return lead.AppendIn(ctx, 0, []byte("x")) }, ErrNotLeader},
			{"too large", func() (uint64, error) { return lead.Append(ctx, make([]byte, 9)) }, ErrTooLarge},
			{"refused", func() (uint64, error) { return lead.Append(ctx, []byte("refuse")) }, errRefused},
			{"context over", func() (uint64, error) { return lead.Append(ended, []byte("x")) }, ErrNotLeader},
		} {
			if _, err := tc.do(); !errors.Is(err, tc.want) {
				t.Errorf("%s: error %v, want %v", tc.name, err, tc.want)
			}
		}
		if _, err := lead.AppendIn(ctx, term, []byte("kept")); err != nil {
			t.Fatal(err)
		}
		c.agree(ctx)
		if got := follower.ledger(); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("a follower holds %v, want only what was accepted", got)
		}
	})
}

func TestAppendKeepsNoReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		lagging := (i + 1) % 3
		c.kill(lagging)
		buf := []byte("first")
		if _, err := c.nodes[i].Append(ctx, buf); err != nil {
			t.Fatal(err)
		}
		copy(buf, "XXXXX")
		c.start(lagging) // is sent the entry only now
		c.agree(ctx)
		if got := c.nodes[lagging].ledger(); !slices.Equal(got, []string{"first"}) {
			t.Errorf("a follower that lagged holds %q", got)
		}
	})
}

// A leader without a majority leaves an entry undecided, and must report that.
func TestIsolatedLeaderIsUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		old := c.nodes[c.leader(ctx)]
		_, _, term := old.Leader()
		c.net.Isolate(raft.ServerAddress(old.ID() + ":1"))
		if _, err := old.Append(ctx, []byte("lost")); !errors.Is(err, ErrUncertain) {
			t.Errorf("append by an isolated leader: %v, want ErrUncertain", err)
		}
		c.net.Heal()
		now := c.nodes[c.leader(ctx)]
		if _, _, t2 := now.Leader(); t2 <= term {
			t.Errorf("term went from %d to %d", term, t2)
		}
		if _, err := now.AppendIn(ctx, term, []byte("stale")); !errors.Is(err, ErrNotLeader) {
			t.Errorf("append in a term that is over: %v", err)
		}
		c.agree(ctx)
		for _, n := range c.nodes {
			if slices.Contains(n.ledger(), "stale") {
				t.Errorf("replica %s holds an entry of a term that was over", n.ID())
			}
		}
	})
}

func TestSnapshotCarriesALaggingReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 5, Limits{SnapshotEvery: 10, Trailing: 1})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		lead, lagging := c.nodes[i], (i+2)%3
		c.kill(lagging)
		for k := range 40 {
			if _, err := lead.Append(ctx, fmt.Appendf(nil, "e%d", k)); err != nil {
				t.Fatal(err)
			}
		}
		if err := lead.Snapshot(); err != nil {
			t.Fatal(err)
		}
		if first, _ := c.disks[i].logs.FirstIndex(); first < 40 {
			t.Errorf("the log still begins at %d after a snapshot", first)
		}
		c.start(lagging)
		c.agree(ctx)
		if got := c.nodes[lagging].ledger(); len(got) != 40 {
			t.Errorf("the replica that lagged holds %d entries, want 40", len(got))
		}
		if err := lead.Snapshot(); err != nil {
			t.Errorf("snapshot with nothing new: %v", err)
		}
	})
}

func TestSnapshotTooLargeIsRefused(t *testing.T) {
	f := newFSM(&ledger{}, nil, int64(headerSize)+3, slog.New(slog.DiscardHandler))
	f.machine.Read(bytes.Repeat([]byte("x"), 100))()
	s, err := f.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.(*captured).write(&out); err == nil || out.Len() > 0 {
		t.Errorf("a snapshot above the limit is taken: %v, %d bytes", err, out.Len())
	}
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 6, Limits{})
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		n := c.nodes[i]
		waited := make(chan error, 3)
		go func() { waited <- n.WaitApplied(ctx, 1<<40) }()
		go func() {
			waited <- n.Leadership(ctx, func(ctx context.Context, _ uint64) error {
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		synctest.Wait()
		c.kill(i)
		for range 2 {
			if err := <-waited; !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v, want ErrClosed", err)
			}
		}
		if _, err := n.Append(ctx, []byte("x")); !errors.Is(err, ErrNotLeader) || !errors.Is(err, ErrClosed) {
			t.Errorf("append after Close: %v", err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		c.close()
	})
}

// Whatever is under way when a node is closed, every append returns and Close does.
func TestCloseUnderLoad(t *testing.T) {
	for round := range 40 {
		synctest.Test(t, func(t *testing.T) {
			n, err := New(Config{
				ID: "r0", Start: Bootstrap, Peers: []Peer{{ID: "r0",
					Addr: "r0:1"}}, Memory: NewMemory(), Machine: &ledger{},
				Transport: chaos.NewNetwork(uint64(round), time.Second).Transport("r0:1"),
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx := within(t, time.Minute)
			if _, _, _, err := n.AwaitLeader(ctx); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for k := range 8 {
				wg.Go(func() {
					for i := 0; ; i++ {
						if _, err := n.Append(ctx, fmt.Appendf(nil, "%d %d", k, i)); err != nil {
							if errors.Is(err, context.DeadlineExceeded) {
								t.Error("an append had no answer")
							}
							return
						}
					}
				})
			}
			for at, _ := n.Digest(); at < uint64(100+round); at, _ = n.Digest() {
				if err := n.WaitApplied(ctx, at+1); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			wg.Wait()
		})
	}
}
