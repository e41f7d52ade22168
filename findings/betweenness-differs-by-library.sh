#!/usr/bin/env bash
# Guess: graph libraries give the same betweenness of the same undirected graph, where it is not normalized; of two
#        cables beside one, all make two paths, or all one.
# Seen:  for the middle of five nodes in a line networkx, igraph and graphology say 4, gonum and cytoscape 8: they count
#        each pair from both ends. Of two parallel cables igraph and graphology make two paths, four over two hops, and
#        give their switch 0.8 of a pair's paths, networkx and cytoscape a half (which cytoscape counts twice).
# With:  networkx 2.8.8, igraph 0.10.2 (Debian bookworm), gonum 0.17.0, graphology-metrics 2.4.2, cytoscape 3.34.4.
set -euo pipefail
debs=(
  python3-networkx=2.8.8-1 python3-igraph=0.10.2-1+b1 libigraph3=0.10.2+ds-2 python3-texttable libblas3=3.11.0-2
  liblapack3=3.11.0-2 libgfortran5 libquadmath0 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
  libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7
)
modules=(gonum.org/v1/gonum@v0.17.0)
packages=(graphology@0.26.0 graphology-metrics@2.4.2 cytoscape@3.34.4)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
export LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }
{
  npm init -y && npm install --no-audit --no-fund "${packages[@]}"
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
LD_LIBRARY_PATH+=":$dir/usr/lib/$(uname -m)-linux-gnu/blas:$dir/usr/lib/$(uname -m)-linux-gnu/lapack"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/simple"
)

func main() {
	line := simple.NewUndirectedGraph()
	for i := range int64(4) {
		line.SetEdge(line.NewEdge(simple.Node(i), simple.Node(i+1)))
	}
	fmt.Println("gonum", network.Betweenness(line)[2])
}
GO
go mod tidy 2>/dev/null
go build -o finding .
cat >main.js <<'JS'
const { MultiUndirectedGraph } = require("graphology");
const betweenness = require("graphology-metrics/centrality/betweenness");
const cytoscape = require("cytoscape");
const line = [["0", "1"], ["1", "2"], ["2", "3"], ["3", "4"]];
const cables = [["s", "a"], ["s", "a"], ["a", "t"], ["a", "t"], ["s", "b"], ["b", "t"]];
for (const [links, node] of [[line, "2"], [cables, "a"]]) {
  const graph = new MultiUndirectedGraph(), other = cytoscape({ headless: true });
  for (const id of new Set(links.flat())) {
    graph.addNode(id);
    other.add({ data: { id } });
  }
  for (const [source, target] of links) {
    graph.addEdge(source, target);
    other.add({ data: { source, target } });
  }
  const ours = betweenness(graph, { normalized: false })[node];
  console.log("graphology", ours, "cytoscape", other.elements().betweennessCentrality({}).betweenness("#" + node));
}
JS
seen=$(/usr/bin/python3 - <<'PY'
import igraph
import networkx

line = [(0, 1), (1, 2), (2, 3), (3, 4)]
cables = [("s", "a"), ("s", "a"), ("a", "t"), ("a", "t"), ("s", "b"), ("b", "t")]
for links, node in (line, 2), (cables, "a"):
    ours = networkx.betweenness_centrality(networkx.MultiGraph(links), normalized=False)
    graph = igraph.Graph.TupleList(links)
    theirs = dict(zip(graph.vs["name"], graph.betweenness()))
    print("networkx", ours[node], "igraph", round(theirs[node], 9))
PY
)
script=$(node main.js)
same "the middle of five nodes in a line" "$(head -1 <<<"$seen") $(head -1 <<<"$script") $(./finding)" \
  "networkx 4.0 igraph 4.0 graphology 4 cytoscape 8 gonum 8"
same "the switch with two cables up and down beside one with one" "$(tail -1 <<<"$seen") $(tail -1 <<<"$script")" \
  "networkx 0.5 igraph 0.8 graphology 0.8 cytoscape 1"
