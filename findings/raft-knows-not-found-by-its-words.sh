#!/usr/bin/env bash
# Guess: a StableStore of one's own can answer Get of a key that is not there with any error, or with one that wraps a
#        sentinel of raft's, as Go's libraries do.
# Seen:  raft compares the error's text: exactly "not found", or no error and 0, begins a new cluster. "key not found"
#        and a wrapped "not found" end the start with that very error, and raft exports no sentinel to return.
# With:  hashicorp/raft 1.7.3.
set -euo pipefail
modules=(github.com/hashicorp/raft@v1.7.3)

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
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// store is raft's own store in memory, but for what it says of keys that were never set.
type store struct {
	*raft.InmemStore
	missing error
	set     map[string]bool
}

func (s store) SetUint64(key []byte, v uint64) error {
	s.set[string(key)] = true
	return s.InmemStore.SetUint64(key, v)
}

func (s store) GetUint64(key []byte) (uint64, error) {
	if !s.set[string(key)] {
		return 0, s.missing
	}
	return s.InmemStore.GetUint64(key)
}

func main() {
	for _, missing := range []error{nil, errors.New("not found"), errors.New("key not found"),
		fmt.Errorf("term: %w", errors.New("not found"))} {
		mem := raft.NewInmemStore()
		conf := raft.DefaultConfig()
		conf.LocalID = "a"
		_, transport := raft.NewInmemTransport("a")
		err := raft.BootstrapCluster(conf, mem, store{mem, missing, map[string]bool{}}, raft.NewInmemSnapshotStore(),
			transport, raft.Configuration{Servers: []raft.Server{{ID: "a", Address: "a"}}})
		fmt.Printf("%v: %v\n", missing, err)
	}
}
GO
same "begins" "$(go run .)" "<nil>: <nil>
not found: <nil>
key not found: failed to check for existing state: failed to read current term: key not found
term: not found: failed to check for existing state: failed to read current term: term: not found"
