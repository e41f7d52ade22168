#!/usr/bin/env bash
# Guess: LeadershipTransferToServer of a server that may not vote returns an error, and the leader goes on.
# Seen:  it returns nil. The leader has stepped down, the nonvoter has raised the term and stands as a candidate whom
#        nobody elects, and writes fail until an election timeout has passed and a voter leads: the old leader or
#        another. A server that is not known and the leader itself are refused.
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
	names := []raft.ServerID{"a", "b", "c", "n"}
	transports := map[raft.ServerID]*raft.InmemTransport{}
	var servers []raft.Server
	for _, n := range names {
		_, transports[n] = raft.NewInmemTransport(raft.ServerAddress(n))
		s := raft.Server{ID: n, Address: raft.ServerAddress(n)}
		if n == "n" {
			s.Suffrage = raft.Nonvoter
		}
		servers = append(servers, s)
	}
	rafts := map[raft.ServerID]*raft.Raft{}
	for _, n := range names {
		for _, other := range names {
			transports[n].Connect(raft.ServerAddress(other), transports[other])
		}
		conf := raft.DefaultConfig()
		conf.LocalID, conf.Logger = n, hclog.NewNullLogger()
		store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
		cluster := raft.Configuration{Servers: servers}
		if err := raft.BootstrapCluster(conf, store, store, snapshots, transports[n], cluster); err != nil {
			log.Fatal(err)
		}
		r, err := raft.NewRaft(conf, fsm{}, store, store, snapshots, transports[n])
		if err != nil {
			log.Fatal(err)
		}
		rafts[n] = r
	}
	leader := func() *raft.Raft {
		for ; ; time.Sleep(time.Millisecond) {
			for _, n := range names {
				if rafts[n].State() == raft.Leader && rafts[n].Barrier(time.Second).Error() == nil {
					return rafts[n]
				}
			}
		}
	}
	l := leader()
	time.Sleep(time.Second) // all know the leader and its term
	term := l.CurrentTerm()
	fmt.Println("transfer to a stranger:", l.LeadershipTransferToServer("x", "x").Error() != nil)

	begin := time.Now()
	fmt.Println("transfer to a nonvoter:", l.LeadershipTransferToServer("n", "n").Error())
	for rafts["n"].State() != raft.Candidate && time.Since(begin) < 500*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	leaders := 0
	for _, n := range names {
		if rafts[n].State() == raft.Leader {
			leaders++
		}
	}
	fmt.Printf("then: the nonvoter is %v, leaders %d, write: %v\n", rafts["n"].State(), leaders,
		l.Apply(nil, time.Second).Error())
	after := leader()
	fmt.Printf("later: a leader again, term raised: %t, nonvoter leads: %t, after half a second and more: %t\n",
		after.CurrentTerm() >= term+2, after == rafts["n"], time.Since(begin) > 500*time.Millisecond)
}
GO
go mod tidy 2>/dev/null
same "error, and what follows" "$(timeout 60 go run .)" "transfer to a stranger: true
transfer to a nonvoter: <nil>
then: the nonvoter is Candidate, leaders 0, write: node is not the leader
later: a leader again, term raised: true, nonvoter leads: false, after half a second and more: true"
