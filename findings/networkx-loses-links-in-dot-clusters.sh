#!/usr/bin/env bash
# Guess: networkx reads a DOT file whose racks are clusters (subgraph cluster_…) with all of its nodes and edges.
# Seen:  edges and nodes inside of subgraphs are left out: of a fabric of two racks only what is written outside of
#        them remains, and hosts vanish with their links. No error, no warning.
# With:  networkx 2.8.8 with pydot 1.4.2 (Debian bookworm).
set -euo pipefail
debs=(python3-networkx=2.8.8-1 python3-pydot=1.4.2-1 python3-pyparsing=3.0.9-1)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
export LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
cat >racks.dot <<'DOT'
graph {
  subgraph cluster_rack1 { h1 -- tor1; h2 -- tor1 }
  subgraph cluster_rack2 { h3 -- tor2 }
  tor1 -- spine1
  tor2 -- spine1
}
DOT
seen=$(/usr/bin/python3 - 2>/dev/null <<'PY'
import networkx as nx
g = nx.nx_pydot.read_dot("racks.dot")
print(g.number_of_edges(), "edges,", " ".join(sorted(g)))
PY
)
same "of 5 edges and 6 nodes" "$seen" "2 edges, spine1 tor1 tor2"
