#!/usr/bin/env bash
# Guess: gonum's Simplex solves a minimum-cost flow written down as textbooks do: one balance for each node.
# Seen:  it refuses every such program, "A is singular", since the balances of a connected network always add up to
#        zero. Without any one of them it is solved.
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

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

func main() {
	edges := [][2]int{{0, 1}, {1, 3}, {0, 2}, {2, 3}} // two paths from node 0 to node 3
	costs := []float64{1, 1, 2, 2}
	supply := []float64{1, 0, 0, -1}
	for _, nodes := range []int{4, 3} {
		balances := mat.NewDense(nodes, len(edges), nil)
		for e, ends := range edges {
			for i, node := range ends {
				if node < nodes {
					balances.Set(node, e, float64(1-2*i))
				}
			}
		}
		cost, flow, err := lp.Simplex(costs, balances, supply[:nodes], 0, nil)
		fmt.Println(nodes, "balances:", cost, flow, err)
	}
}
GO
same "flow of one" "$(go run .)" "4 balances: NaN [] lp: A is singular
3 balances: 2 [1 1 0 0] <nil>"
