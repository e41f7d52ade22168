#!/usr/bin/env bash
# Guess: a leader that is asked for a change of members while another one is under way returns an error, such as
#        ErrProposalDropped, so that the caller asks again.
# Seen:  ProposeConfChange returns nil. An empty entry takes the change's place in the log and is committed, and the
#        member is never added. Only the logger is told.
# With:  go.etcd.io/raft 3.6.0.
set -euo pipefail
modules=(go.etcd.io/raft/v3@v3.6.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"log"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

func main() {
	raft.SetLogger(&raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)})
	storage := raft.NewMemoryStorage()
	check(storage.ApplySnapshot(raftpb.Snapshot{Metadata: raftpb.SnapshotMetadata{Index: 1, Term: 1,
		ConfState: raftpb.ConfState{Voters: []uint64{1}}}}))
	node, err := raft.NewRawNode(&raft.Config{ID: 1, ElectionTick: 10, HeartbeatTick: 1, Storage: storage, Applied: 1,
		MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 16})
	check(err)
	check(node.Campaign())
	settle(node, storage)
	add := func(member uint64) error {
		return node.ProposeConfChange(raftpb.ConfChange{Type: raftpb.ConfChangeAddLearnerNode, NodeID: member})
	}
	fmt.Println(add(2), add(3))
	settle(node, storage)
	fmt.Println(node.Status().Config.String())
	fmt.Println(add(3))
	settle(node, storage)
	fmt.Println(node.Status().Config.String())
}

func settle(node *raft.RawNode, storage *raft.MemoryStorage) {
	for node.HasReady() {
		ready := node.Ready()
		check(storage.Append(ready.Entries))
		for _, entry := range ready.CommittedEntries {
			fmt.Println(entry.Index, entry.Type, len(entry.Data) > 0)
			if entry.Type == raftpb.EntryConfChange {
				var change raftpb.ConfChange
				check(change.Unmarshal(entry.Data))
				node.ApplyConfChange(change)
			}
		}
		node.Advance(ready)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "entries, and whether they hold anything; errors of adding 2 and 3 at once, members, and of 3 again" \
  "$(./finding)" "2 EntryNormal false
<nil> <nil>
3 EntryConfChange true
4 EntryNormal false
voters=(1) learners=(2)
<nil>
5 EntryConfChange true
voters=(1) learners=(2 3)"
