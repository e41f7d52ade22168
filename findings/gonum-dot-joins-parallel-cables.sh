#!/usr/bin/env bash
# Guess: gonum refuses a DOT file with two edges between one pair of nodes when it is read into a simple graph, since
#        it has UnmarshalMulti for those.
# Seen:  Unmarshal joins them into one and returns no error: two cables are one, and the fabric has half of the
#        bandwidth there. UnmarshalMulti of the same file keeps both.
# With:  gonum 0.17.0.
set -euo pipefail
modules=(gonum.org/v1/gonum@v0.17.0)

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

	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"
)

var fabric = []byte("graph { tor1 -- spine1; tor1 -- spine1; tor2 -- spine1 }")

func main() {
	one := simple.NewUndirectedGraph()
	err := dot.Unmarshal(fabric, one)
	fmt.Print(one.Edges().Len(), " edges, ", err)
	each := multi.NewUndirectedGraph()
	err = dot.UnmarshalMulti(fabric, each)
	lines := 0
	for edges := each.Edges(); edges.Next(); {
		e := edges.Edge()
		lines += each.Lines(e.From().ID(), e.To().ID()).Len()
	}
	fmt.Print("; ", lines, " lines, ", err)
}
GO
same "of three cables" "$(go run .)" "2 edges, <nil>; 3 lines, <nil>"
