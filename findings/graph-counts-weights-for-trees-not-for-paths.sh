#!/usr/bin/env bash
# Guess: weights of edges count for each algorithm of dominikbraun/graph.
# Seen:  unless the graph is made with Weighted(), they are kept and read back, MinimumSpanningTree counts them, and
#        ShortestPath, "under consideration of the edge weights", takes 1 for each: a link of 50 beats two of 10.
# With:  dominikbraun/graph 0.23.0.
set -euo pipefail
modules=(github.com/dominikbraun/graph@v0.23.0)

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

	"github.com/dominikbraun/graph"
)

func main() {
	for _, traits := range [][]func(*graph.Traits){nil, {graph.Weighted()}} {
		fabric := graph.New(graph.StringHash, traits...)
		for _, node := range []string{"a", "b", "c"} {
			_ = fabric.AddVertex(node)
		}
		_ = fabric.AddEdge("a", "b", graph.EdgeWeight(10))
		_ = fabric.AddEdge("b", "c", graph.EdgeWeight(10))
		_ = fabric.AddEdge("a", "c", graph.EdgeWeight(50))
		edge, _ := fabric.Edge("a", "c")
		path, _ := graph.ShortestPath(fabric, "a", "c")
		tree, _ := graph.MinimumSpanningTree(fabric)
		links, _ := tree.Edges()
		weight := 0
		for _, link := range links {
			weight += link.Properties.Weight
		}
		fmt.Println("weight of a-c:", edge.Properties.Weight, "tree:", weight, "path:", path)
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "without Weighted(), and with it" "$(./finding)" "weight of a-c: 50 tree: 20 path: [a c]
weight of a-c: 50 tree: 20 path: [a b c]"
