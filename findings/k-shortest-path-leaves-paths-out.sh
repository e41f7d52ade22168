#!/usr/bin/env bash
# Guess: k-shortest-path, which "computes the K shortest paths", by Yen's algorithm, lists all paths without loops, the
#        shortest first, as networkx does.
# Seen:  it leaves some out and goes on with longer ones. Between two ToRs under two spines that are joined, it finds
#        three of four paths; in a network of five switches it lists costs of 7, 12 and 15 where there is one of 14.
# With:  k-shortest-path 0.0.5, graphlib 2.1.8 (npm), networkx 2.8.8 (Debian bookworm).
set -euo pipefail
debs=(python3-networkx=2.8.8-1)
packages=(k-shortest-path@0.0.5 graphlib@2.1.8)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
{
  npm init -y && npm install --no-audit --no-fund "${packages[@]}"
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >links.json <<'JSON'
[["tor0", "tor1", 10, [["tor0", "spine0", 1], ["tor0", "spine1", 1], ["spine0", "spine1", 1], ["spine1", "spine0", 1],
  ["spine0", "tor1", 1], ["spine1", "tor1", 1]]],
 ["s0", "s4", 4, [["s0", "s1", 5], ["s0", "s3", 3], ["s1", "s2", 5], ["s1", "s3", 5], ["s2", "s0", 4], ["s2", "s1", 5],
  ["s2", "s4", 2], ["s3", "s1", 5], ["s3", "s4", 4]]]]
JSON
cat >main.js <<'JS'
const { Graph } = require("graphlib"), { ksp } = require("k-shortest-path");
for (const [from, to, k, links] of require("./links.json")) {
  const graph = new Graph();
  for (const [a, b, cost] of links) graph.setEdge(a, b, cost);
  console.log(ksp(graph, from, to, k).map(path => path.totalCost).join(" "));
}
JS
cat >main.py <<'PY'
import itertools, json
import networkx

for a, b, k, links in json.load(open("links.json")):
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(links)
    paths = itertools.islice(networkx.shortest_simple_paths(graph, a, b, "weight"), k)
    print(*(networkx.path_weight(graph, path, "weight") for path in paths))
PY
[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
same "costs of paths, networkx" "$(/usr/bin/python3 main.py)" "2 2 3 3
7 12 14 15"
same "costs of paths, k-shortest-path" "$(node main.js)" "2 2 3
7 12 15"
