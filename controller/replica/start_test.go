package replica

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/pathmap/tries"
)

// TestAmnesia: an entry is on two replicas; one of these loses its log, the other is down. The first
// does not start by itself. As a newcomer it gives no vote to a candidate without the entry; when the
// other is back, it joins, and the entry is on all.
func TestAmnesia(t *testing.T) {
	t.Parallel()
	for seed := range tries.Of(20, 100) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, uint64(seed), Limits{})
			defer c.close()
			ctx := within(t, time.Hour)
			a := c.leader(ctx)
			b, behind := (a+1)%3, (a+2)%3
			c.kill(behind)
			if _, err := c.nodes[a].Append(ctx, []byte("acknowledged")); err != nil {
				t.Fatal(err)
			}
			c.kill(b)
			c.kill(a)
			cfg := Config{ID: c.peers[b].ID, Peers: c.peers, Memory: NewMemory(), Machine: &ledger{},
				Transport: c.net.Transport("nowhere:1")}
			if n, err := New(cfg); !errors.Is(err, ErrEmpty) {
				t.Fatalf("seed %d: an empty directory: %v %v", seed, n, err)
			}
			joined := c.rejoin(b)
			c.start(behind)
			short, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if id, _, _, err := c.nodes[behind].AwaitLeader(short); err == nil {
				t.Fatalf("seed %d: %s leads by the vote of one that has forgotten", seed, id)
			}
			c.start(a)
			<-joined
			if _, err := c.nodes[c.leader(ctx)].Append(ctx, []byte("later")); err != nil {
				t.Fatal(err)
			}
			c.agree(ctx)
			for _, n := range c.nodes {
				if got := n.ledger(); !slices.Equal(got, []string{"acknowledged", "later"}) {
					t.Errorf("seed %d: %s holds %q", seed, n.ID(), got)
				}
			}
			// It votes again: with it the cluster outlives the other two in turn.
			for _, i := range []int{a, behind} {
				c.kill(i)
				if _, err := c.nodes[c.leader(ctx)].Append(ctx, []byte("without one")); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				c.start(i)
				c.agree(ctx)
			}
		})
	}
}

// TestStart: a node's options must match its directory.
func TestStart(t *testing.T) {
	smallSegments(t)
	dir := t.TempDir()
	for _, tc := range []struct {
		as   Start
		want string // in the error; empty: none
	}{
		{Existing, "its directory holds nothing"},
		{"new", `starts "new": known are`},
		{Bootstrap, ""},
		{Bootstrap, ""}, // it holds something: as Existing
		{Existing, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, err := New(alone(dir, tc.as))
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("start as %q: %v, want it to say %q", tc.as, err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := n.AwaitLeader(within(t, time.Minute)); err != nil {
				t.Errorf("start as %q: %v", tc.as, err)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTrackerCountsSilence: a follower notices late, so an outage begins with the last contact of the
// old leader. A replica that led itself knows at once; without a contact, or with a future one, the
// outage begins when it is noticed.
func TestTrackerCountsSilence(t *testing.T) {
	begin := time.Unix(1000, 0)
	for _, tc := range []struct {
		name    string
		led     bool
		contact time.Time
		want    time.Duration
	}{
		{"follower", false, begin.Add(-3 * time.Second), 5 * time.Second},
		{"leader", true, begin.Add(-3 * time.Second), 2 * time.Second},
		{"no contact", false, time.Time{}, 2 * time.Second},
		{"at this instant", false, begin, 2 * time.Second},
		{"a contact to come", false, begin.Add(time.Second), 2 * time.Second},
	} {
		now := begin
		tr := newTracker(func() time.Time { return now })
		tr.heard("a", 1, time.Time{})
		if tc.led {
			tr.lead(true, 1)
		}
		tr.heard("", 1, tc.contact)
		now = begin.Add(2 * time.Second)
		tr.heard("b", 2, time.Time{})
		if tr.longest != tc.want || tr.total != tc.want || tr.changes != 1 {
			t.Errorf("%s: longest %v, total %v, %d changes; want %v", tc.name, tr.longest, tr.total,
				tr.changes, tc.want)
		}
		tr.close()
	}
}

// elected is what raft says of itself.
type elected struct {
	state raft.RaftState
	id    raft.ServerID
}

func (e elected) State() raft.RaftState                             { return e.state }
func (e elected) CurrentTerm() uint64                               { return 3 }
func (e elected) LeaderWithID() (raft.ServerAddress, raft.ServerID) { return "", e.id }

// TestTrackerAdopts: what raft knew before it was observed counts, unless something newer was observed
// meanwhile.
func TestTrackerAdopts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		observed string
		raft     elected
		leader   string
		leads    bool
	}{
		{"nobody leads", "", elected{raft.Follower, ""}, "", false},
		{"another leads", "", elected{raft.Follower, "b"}, "b", false},
		{"this one leads", "", elected{raft.Leader, "a"}, "a", true},
		{"a third was observed", "c", elected{raft.Follower, "b"}, "c", false},
	} {
		tr := newTracker(time.Now)
		if tc.observed != "" {
			tr.heard(tc.observed, 4, time.Time{})
		}
		tr.adopt(tc.raft)
		if tr.leader != tc.leader || (tr.cur != nil) != tc.leads || tr.changes != 0 {
			t.Errorf("%s: leader %q, leads %v, %d changes", tc.name, tr.leader, tr.cur != nil, tr.changes)
		}
		tr.close()
	}
}

// unreadable is a store of which one part cannot be read.
type unreadable struct {
	raft.LogStore
	raft.StableStore
	raft.SnapshotStore
}

var errUnreadable = errors.New("cannot be read")

func (unreadable) LastIndex() (uint64, error)             { return 0, errUnreadable }
func (unreadable) GetUint64([]byte) (uint64, error)       { return 0, errUnreadable }
func (unreadable) List() ([]*raft.SnapshotMeta, error)    { return nil, errUnreadable }
func (unreadable) SetUint64([]byte, uint64) (err error)   { panic("it is written to") }
func (unreadable) StoreLog(*raft.Log) (err error)         { panic("it is written to") }
func (unreadable) StoreLogs(logs []*raft.Log) (err error) { panic("it is written to") }

// TestUnreadable: a store that cannot be read is no empty one: nothing begins on it, whatever is
// expected of it.
func TestUnreadable(t *testing.T) {
	for _, start := range []Start{Bootstrap, Existing} {
		for name, change := range map[string]func(*store){
			"the log":    func(s *store) { s.logs = unreadable{} },
			"the vote":   func(s *store) { s.stable = unreadable{} },
			"a snapshot": func(s *store) { s.snaps = unreadable{} },
		} {
			c := &Config{ID: "a", Peers: []Peer{{ID: "a", Addr: "a:1"}}, Memory: NewMemory(), Start: start}
			s, err := openStore(c)
			if err != nil {
				t.Fatal(err)
			}
			change(s)
			if err := s.prepare(c, raft.DefaultConfig(), nil); !errors.Is(err, errUnreadable) {
				t.Errorf("%s, %q: %v", name, start, err)
			}
		}
	}
}
