#!/usr/bin/env bash
# Guess: networkx.all_shortest_paths lists each path of equal cost once, so that its length is the number of ECMP
#        paths.
# Seen:  where links weigh nothing (a cost of 0 within a rack, or all costs 0) paths come several times: six for the
#        two between the corners of a triangle. With any other equal weight each comes once.
# With:  networkx 2.8.8 (Debian bookworm).
set -euo pipefail
debs=(python3-networkx=2.8.8-1)

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
seen=$(/usr/bin/python3 - 2>/dev/null <<'PY'
import networkx as nx
for cost in 0, 1:
    g = nx.Graph()
    g.add_edge("a", "b", weight=cost)
    g.add_edge("b", "c", weight=cost)
    g.add_edge("a", "c", weight=2 * cost)
    paths = ["".join(p) for p in nx.all_shortest_paths(g, "a", "c", weight="weight")]
    print(f"cost {cost}:", len(paths), "listed,", len(set(paths)), "different", end="; ")
PY
)
same "paths from a to c" "$seen" "cost 0: 6 listed, 2 different; cost 1: 2 listed, 2 different; "
