#!/usr/bin/env bash
# Guess: RemoveServer and DemoteVoter of a server that is not a member are errors; AddNonvoter of a server that is a
#        voter is an error, or takes its vote away.
# Seen:  all return nil. A name with a typing error removes nobody, and the server that was meant goes on voting; its
#        entry in the log is written and committed all the same. AddNonvoter leaves the vote and changes the address.
# With:  hashicorp/raft 1.7.3.
set -euo pipefail
modules=(github.com/hashicorp/raft@v1.7.3 github.com/hashicorp/go-hclog@v1.6.2)

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
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// fsm keeps nothing.
type fsm struct{}

func (fsm) Apply(*raft.Log) any                 { return nil }
func (fsm) Snapshot() (raft.FSMSnapshot, error) { return fsm{}, nil }
func (fsm) Restore(r io.ReadCloser) error       { return r.Close() }
func (fsm) Persist(s raft.SnapshotSink) error   { return s.Close() }
func (fsm) Release()                            {}

func main() {
	conf := raft.DefaultConfig()
	conf.LocalID, conf.Logger = "tor1", hclog.NewNullLogger()
	store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
	address, transport := raft.NewInmemTransport("")
	err := raft.BootstrapCluster(conf, store, store, snapshots, transport,
		raft.Configuration{Servers: []raft.Server{{ID: "tor1", Address: address}}})
	if err != nil {
		log.Fatal(err)
	}
	r, err := raft.NewRaft(conf, fsm{}, store, store, snapshots, transport)
	if err != nil {
		log.Fatal(err)
	}
	if !<-r.LeaderCh() || r.Barrier(time.Second).Error() != nil {
		log.Fatal("does not lead")
	}
	for _, change := range []struct {
		what string
		do   func() raft.IndexFuture
	}{
		{"remove tor11", func() raft.IndexFuture { return r.RemoveServer("tor11", 0, time.Second) }},
		{"demote tor11", func() raft.IndexFuture { return r.DemoteVoter("tor11", 0, time.Second) }},
		{"add tor1 as nonvoter", func() raft.IndexFuture { return r.AddNonvoter("tor1", "other", 0, time.Second) }},
	} {
		before := r.LastIndex()
		err := change.do().Error()
		s := r.GetConfiguration().Configuration().Servers
		fmt.Printf("%s: %v, %d entry, %d member, tor1 is a %v, at the other address: %t\n", change.what, err,
			r.LastIndex()-before, len(s), s[0].Suffrage, s[0].Address == "other")
	}
}
GO
go mod tidy 2>/dev/null
same "change, and what is there then" "$(timeout 60 go run .)" \
  "remove tor11: <nil>, 1 entry, 1 member, tor1 is a Voter, at the other address: false
demote tor11: <nil>, 1 entry, 1 member, tor1 is a Voter, at the other address: false
add tor1 as nonvoter: <nil>, 1 entry, 1 member, tor1 is a Voter, at the other address: true"
