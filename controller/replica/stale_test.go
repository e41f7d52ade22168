package replica

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// TestSnapshotThatComesAgainTakesNothingBack: a replica that has gone on from a leader's snapshot, and gets it again,
// says that it holds it, and stays where it is.
func TestSnapshotThatComesAgainTakesNothingBack(t *testing.T) {
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
		if now := follower.raft.AppliedIndex(); now != at {
			t.Errorf("the replica went from %d to %d", at, now)
		}
		fill(1)
		c.agree(ctx)
		if got := follower.ledger(); len(got) != 126 {
			t.Errorf("%d entries, want 126", len(got))
		}
	})
}
