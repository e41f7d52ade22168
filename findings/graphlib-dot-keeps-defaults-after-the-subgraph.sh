#!/usr/bin/env bash
# Guess: in a DOT file the defaults for edges that a subgraph sets hold in that subgraph alone, as the language says.
# Seen:  graphlib-dot gives them to all edges that come after it as well: a link outside of the rack costs 4.
# With:  graphlib-dot 0.6.4.
set -euo pipefail
packages=(graphlib-dot@0.6.4)

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
const dot = require("graphlib-dot");
const graph = dot.read("graph { subgraph rack { edge [cost=4]; a -- b } b -- c; c -- d [cost=1] }");
for (const edge of graph.edges()) console.log(edge.v, edge.w, graph.edge(edge).cost);
JS
same "links and their costs" "$(node main.js)" "a b 4
b c 4
c d 1"
