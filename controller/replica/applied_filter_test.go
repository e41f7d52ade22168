package replica

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/raft"
)

// TestWhatComesAgainTakesNothingBack: a replica that has gone on from a leader's snapshot, and gets it
// or the entries behind it again, says that it holds them, and stays where it is.
func TestWhatComesAgainTakesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1, Limits{SnapshotEvery: 50, Trailing: 8})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		lead, behind := c.nodes[i], (i+1)%len(c.nodes)
		fill := func(n int) {
			t.Helper()
			for k := range n {
				if _, err := lead.Append(ctx, fmt.Appendf(nil, "e%d", k)); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill(20)
		c.kill(behind)
		fill(100)
		if err := lead.Snapshot(); err != nil {
			t.Fatal(err)
		}
		c.start(behind)
		fill(5)
		c.agree(ctx)
		follower := c.nodes[behind]
		ends, err := strconv.ParseUint(follower.raft.Stats()["last_snapshot_index"], 10, 64)
		at := follower.raft.AppliedIndex()
		if err != nil || ends < 100 || ends >= at {
			t.Fatalf("the replica has a snapshot to %d of %d, %v: the test does not test", ends, at, err)
		}
		_, _, term := lead.Leader()
		elsewhere := c.net.Transport("elsewhere:1")
		defer elsewhere.Close()
		const data = "again"
		var answer raft.InstallSnapshotResponse
		err = elsewhere.InstallSnapshot(raft.ServerID(follower.ID()), raft.ServerAddress(c.peers[behind].Addr),
			&raft.InstallSnapshotRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(lead.ID()),
					Addr: []byte(c.peers[i].Addr)},
				SnapshotVersion: raft.SnapshotVersionMax, Term: term, LastLogIndex: ends, LastLogTerm: term,
				ConfigurationIndex: 1, Configuration: raft.EncodeConfiguration(configuration(c.peers)), Size: int64(len(data)),
			}, &answer, strings.NewReader(data))
		if err != nil || !answer.Success || answer.Term != term {
			t.Errorf("a snapshot to %d of %d again: %+v, %v", ends, at, answer, err)
		}
		var first raft.Log
		if err := lead.store.logs.GetLog(ends+1, &first); err != nil {
			t.Fatal(err)
		}
		var took raft.AppendEntriesResponse
		err = elsewhere.AppendEntries(raft.ServerID(follower.ID()), raft.ServerAddress(c.peers[behind].Addr),
			&raft.AppendEntriesRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(lead.ID()),
					Addr: []byte(c.peers[i].Addr)},
				Term: term, PrevLogEntry: ends, PrevLogTerm: term, Entries: []*raft.Log{&first}, LeaderCommitIndex: at,
			}, &took)
		if err != nil || !took.Success {
			t.Errorf("entry %d of %d again: %+v, %v", ends+1, at, took, err)
		}
		if now := follower.raft.AppliedIndex(); now < at { // it may have gone on: the leader adds entries of its own
			t.Errorf("the replica went from %d to %d", at, now)
		}
		fill(1)
		c.agree(ctx)
		if got := follower.ledger(); len(got) != 126 {
			t.Errorf("%d entries, want 126", len(got))
		}
	})
}

// TestBehind: which entries raft gets, behind which, and what it may commit.
func TestBehind(t *testing.T) {
	entries := func(from, to uint64) (e []*raft.Log) {
		for i := from; i <= to; i++ {
			e = append(e, &raft.Log{Index: i, Term: 3})
		}
		return e
	}
	for _, tt := range []struct {
		name                       string
		prev, to, commits, applied uint64
		wantPrev, wantFrom, want   uint64
	}{
		{"all new", 10, 12, 11, 9, 10, 11, 11},
		{"directly behind what is applied", 10, 12, 11, 10, 0, 11, 11},
		{"half of it applied", 10, 14, 14, 12, 0, 13, 14},
		{"all of it applied", 10, 12, 20, 15, 0, 0, 12},
		{"nothing but what is there", 10, 10, 20, 10, 0, 0, 10},
		{"nothing, behind what is not applied", 12, 12, 20, 10, 12, 0, 12},
		{"more is committed than sent", 10, 12, 20, 9, 10, 11, 12},
		{"a heartbeat", 0, 0, 0, 10, 0, 0, 0},
	} {
		m := &raft.AppendEntriesRequest{Term: 4, PrevLogEntry: tt.prev, PrevLogTerm: 2,
			Entries:           entries(tt.prev+1, tt.to),
			LeaderCommitIndex: tt.commits}
		got := behind(m, tt.applied)
		want := raft.AppendEntriesRequest{Term: 4, PrevLogEntry: tt.wantPrev, LeaderCommitIndex: tt.want}
		if tt.wantPrev > 0 {
			want.PrevLogTerm = 2
		}
		if tt.wantFrom > 0 {
			want.Entries = entries(tt.wantFrom, tt.to)
		}
		if d := cmp.Diff(want, *got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		if m.PrevLogEntry != tt.prev || uint64(len(m.Entries)) != tt.to-tt.prev {
			t.Errorf("%s: the sender's request has changed: %+v", tt.name, m)
		}
	}
}
