package replica

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// TestTailBehindASnapshot: no replica holds entries before its snapshot. That of r0 ends at 10, and
// behind it are two entries of term 3 that no other replica holds. r1 and r2 hold one entry of term 4
// behind their snapshot, so one of them leads. If their snapshot ends at 10 too, r0 replaces its
// entries by the leader's. If it ends at 11, the leader sends it, and r0 starts again.
func TestTailBehindASnapshot(t *testing.T) {
	t.Parallel()
	for restarts, ends := range []uint64{10, 11} {
		for _, onDisk := range []bool{false, true} {
			name := map[bool]string{false: "in memory", true: "on disk"}[onDisk]
			t.Run(fmt.Sprintf("%d %s", ends, name), func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					c := newCluster(t, 1, Limits{})
					c.close()
					for i := range c.nodes {
						c.disks[i] = NewMemory()
						if onDisk {
							c.disks[i], c.dir = nil, dir
						}
						if i == 0 {
							c.write(i, 10, 2, 3)
						} else {
							c.write(i, ends, 1, 4)
						}
						c.start(i)
					}
					ctx := within(t, time.Minute)
					lead := c.nodes[c.leader(ctx)]
					if _, err := lead.Append(ctx, []byte("new")); err != nil {
						t.Fatal(err)
					}
					c.agree(ctx)
					if c.restarts != restarts {
						t.Errorf("%d nodes were started again, want %d", c.restarts, restarts)
					}
					c.close()
				})
			})
		}
	}
}

// write fills the store of node i, which is not running, with a snapshot of an index, taken in term 2,
// and with so many entries of a term behind it.
func (c *cluster) write(i int, index uint64, tail int, term uint64) {
	c.t.Helper()
	check := func(err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
	}
	s, err := openStore(&Config{Memory: c.disks[i], Dir: filepath.Join(c.dir, c.peers[i].ID)})
	check(err)
	end := c.net.Transport(raft.ServerAddress(c.peers[i].Addr))
	defer end.Close()
	sink, err := s.snaps.Create(raft.SnapshotVersionMax, index, 2, configuration(c.peers), 1, end)
	check(err)
	l := &ledger{}
	check(l.Apply([]byte("old")))
	check((&captured{of: l.Freeze(), index: index, term: 2, limit: 1 << 20}).Persist(sink))
	check(s.stable.SetUint64([]byte(keyTerm), term))
	for k := range uint64(tail) {
		data, err := json.Marshal(k)
		check(err)
		check(s.logs.StoreLog(&raft.Log{Index: index + 1 + k, Term: term, Data: data}))
	}
	check(s.close())
}
