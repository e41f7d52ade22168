#!/usr/bin/env bash
# Guess: in gonum's weighted multigraph a shortest path takes the cheapest of parallel cables, so that a second cable
#        makes no path longer.
# Seen:  the weight of an edge is the sum of its lines: two cables of 1 cost 2, and the shortest path leaves them for a
#        detour of 1.5. All of path's functions read weights so, until EdgeWeightFunc is set.
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

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/path"
)

func least(cables graph.WeightedLines) float64 {
	cables.Next()
	weight := cables.WeightedLine().Weight()
	for cables.Next() {
		weight = min(weight, cables.WeightedLine().Weight())
	}
	return weight
}

func main() {
	fabric := multi.NewWeightedUndirectedGraph()
	cable := func(a, b, weight float64) {
		fabric.SetWeightedLine(fabric.NewWeightedLine(multi.Node(a), multi.Node(b), weight))
	}
	show := func(what string) {
		nodes, length := path.DijkstraFrom(multi.Node(0), fabric).To(1)
		fmt.Println(what, nodes, length)
	}
	cable(0, 2, 0.75)
	cable(2, 1, 0.75)
	cable(0, 1, 1)
	show("one cable:")
	cable(0, 1, 1)
	show("two:")
	fabric.EdgeWeightFunc = least
	show("two, by the least:")
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "shortest path and its length" "$(./finding)" "one cable: [0 1] 1
two: [0 2 1] 1.5
two, by the least: [0 1] 1"
