#!/usr/bin/env bash
# Guess: where a GraphML key of type double has a <default>, graphology gives edges without a value of their own that
#        number as their weight, and a shortest path counts it.
# Seen:  the default stays text, "10", where a value becomes a number, and dijkstra takes what is no number for 1: two
#        links of 10 by default are shorter than one of 5.
# With:  graphology 0.26.0, graphology-graphml 0.5.2, graphology-shortest-path 2.1.0.
set -euo pipefail
packages=(
  graphology@0.26.0 graphology-types@0.24.8 graphology-graphml@0.5.2
  graphology-shortest-path@2.1.0 @xmldom/xmldom@0.8.15
)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  npm init -y && npm install --no-audit --no-fund "${packages[@]}"
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.js <<'JS'
const Graph = require("graphology");
globalThis.DOMParser = require("@xmldom/xmldom").DOMParser;
const graphml = require("graphology-graphml");
const { dijkstra } = require("graphology-shortest-path");
const file = value => `<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>10</default></key>
  <graph edgedefault="undirected">
    <node id="a"/> <node id="b"/> <node id="c"/>
    <edge source="a" target="b">${value}</edge>
    <edge source="b" target="c">${value}</edge>
    <edge source="a" target="c"><data key="d0">5</data></edge>
  </graph>
</graphml>`;
for (const value of ["", '<data key="d0">10</data>']) {
  const graph = graphml.parse(Graph, file(value));
  const weights = graph.mapEdges((_, { weight }) => JSON.stringify(weight));
  console.log(...weights, "path", dijkstra.bidirectional(graph, "a", "c").join(""));
}
JS
same "weights by default, then written out" "$(node main.js)" '"10" "10" 5 path abc
10 10 5 path ac'
