#!/usr/bin/env bash
# Guess: gographviz writes a graph that it has read with the ports of its cables, tor1:eth1 -- tor2:eth1.
# Seen:  the edges that it has read have them, and what it writes has not, without an error: which cable is in which
#        port is lost.
# With:  awalterschulze/gographviz 2.0.3.
set -euo pipefail
modules=(github.com/awalterschulze/gographviz@v2.0.3+incompatible)

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
	"strings"

	"github.com/awalterschulze/gographviz"
)

func main() {
	fabric, err := gographviz.Read([]byte("graph g { tor1:eth1 -- tor2:eth7; tor1:eth2 -- tor2:eth8 }"))
	if err != nil {
		panic(err)
	}
	for _, edge := range fabric.Edges.Edges {
		fmt.Print(edge.Src, edge.SrcPort, "-", edge.Dst, edge.DstPort, " ")
	}
	fmt.Println()
	fmt.Println(strings.Join(strings.Fields(fabric.String()), " "))
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "edges as read, and the graph as written" "$(./finding)" "tor1:eth1-tor2:eth7 tor1:eth2-tor2:eth8 
graph g { tor1--tor2; tor1--tor2; tor1; tor2; }"
