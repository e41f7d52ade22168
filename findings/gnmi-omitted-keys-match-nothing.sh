#!/usr/bin/env bash
# Guess: a path without the keys of a list, /interfaces/interface/state, means all entries in the library's cache and
#        Subscribe server, as gNMI's path conventions say of keys that are left out, and as [name=*] does.
# Seen:  it means none, without an error: the list's name is followed by the next name of the path where the stored
#        path has the key. A subscription gets no update, a query no leaf, and a delete deletes nothing.
# With:  openconfig/gnmi 0.14.1.
set -euo pipefail
modules=(github.com/openconfig/gnmi@v0.14.1)

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
	"log"

	"github.com/openconfig/gnmi/cache"
	"github.com/openconfig/gnmi/ctree"
	"github.com/openconfig/gnmi/match"
	"github.com/openconfig/gnmi/path"
	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// state is the path of an interface's state; key is nil to leave it out.
func state(key map[string]string) *pb.Path {
	return &pb.Path{Elem: []*pb.PathElem{{Name: "interfaces"}, {Name: "interface", Key: key}, {Name: "state"}}}
}

// client counts what a subscription gets.
type client struct{ updates int }

func (c *client) Update(any) { c.updates++ }

func main() {
	eth1 := map[string]string{"name": "eth1"}
	all := cache.New([]string{"tor1"})
	put := func(n *pb.Notification) {
		n.Prefix = &pb.Path{Target: "tor1"}
		if err := all.GnmiUpdate(n); err != nil {
			log.Fatal(err)
		}
	}
	leaves := func(p *pb.Path) (n int) {
		err := all.Query("tor1", path.ToStrings(p, false), func([]string, *ctree.Leaf, any) error {
			n++
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		return n
	}
	up := &pb.TypedValue{Value: &pb.TypedValue_StringVal{StringVal: "UP"}}
	put(&pb.Notification{Timestamp: 1, Update: []*pb.Update{{Path: state(eth1), Val: up}}})

	for i, key := range []map[string]string{eth1, {"name": "*"}, nil} {
		subscriptions, c := match.New(), &client{}
		subscriptions.AddQuery(path.ToStrings(state(key), false), c)
		subscriptions.Update(nil, path.ToStrings(state(eth1), false))
		fmt.Printf("key %v: %d update, query %d leaf", key, c.updates, leaves(state(key)))
		if i > 0 {
			put(&pb.Notification{Timestamp: int64(10 * i), Update: []*pb.Update{{Path: state(eth1), Val: up}}})
			put(&pb.Notification{Timestamp: int64(10*i + 1), Delete: []*pb.Path{state(key)}})
			fmt.Printf(", after a delete %d leaf", leaves(state(eth1)))
		}
		fmt.Println()
	}
}
GO
go mod tidy 2>/dev/null
same "of one interface, eth1" "$(go run .)" "key map[name:eth1]: 1 update, query 1 leaf
key map[name:*]: 1 update, query 1 leaf, after a delete 0 leaf
key map[]: 0 update, query 0 leaf, after a delete 1 leaf"
