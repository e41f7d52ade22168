#!/usr/bin/env bash
# Guess: in a multigraph floydWarshall and bellmanFord give the distances that dijkstra gives, by the cheapest of
#        parallel cables.
# Seen:  floydWarshall takes the cable that was added last, of 1 and 7 the 7. bellmanFord asks for weights by an edge
#        without its name, gets none, and calls all nodes unreachable, at Infinity. Neither reports an error.
# With:  @dagrejs/graphlib 4.0.6.
set -euo pipefail
packages=(@dagrejs/graphlib@4.0.6)

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
const { Graph, alg } = require("@dagrejs/graphlib");
const distances = (...weights) => {
  const fabric = new Graph({ multigraph: true });
  weights.forEach((weight, i) => fabric.setEdge("leaf", "spine", weight, `cable${i}`));
  const weight = cable => fabric.edge(cable);
  return [
    alg.dijkstra(fabric, "leaf", weight).spine.distance,
    alg.floydWarshall(fabric, weight).leaf.spine.distance,
    alg.bellmanFord(fabric, "leaf", weight).spine.distance,
  ].join(" ");
};
console.log(`1 and 7: ${distances(1, 7)}, 7 and 1: ${distances(7, 1)}`);
JS
same "distances by dijkstra, floydWarshall, bellmanFord" "$(node main.js)" \
  "1 and 7: 1 7 Infinity, 7 and 1: 1 1 Infinity"
