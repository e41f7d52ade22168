#!/usr/bin/env bash
# Guess: networkx reads back the capacities that it has written into a GML file: 10,000,000,000 bit/s is a number.
# Seen:  integers from 2³¹ on are written in quotes and read back as text, without a warning: a link of 1 Gbit/s is as
#        it was, one of 10 Gbit/s is not. Text can be compared with text, and the lesser of 40 and 100 Gbit/s is 100.
#        GraphML keeps the numbers.
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
seen=$(/usr/bin/python3 - <<'PY'
import networkx

fabric = networkx.Graph()
for a, b, gigabits in (1, 2, 1), (2, 3, 10), (3, 4, 40), (4, 5, 100):
    fabric.add_edge(a, b, capacity=gigabits * 10**9)
networkx.write_gml(fabric, "fabric.gml")
networkx.write_graphml(fabric, "fabric.graphml")
for graph in networkx.read_gml("fabric.gml", label="id"), networkx.read_graphml("fabric.graphml"):
    capacities = [capacity for _, _, capacity in graph.edges(data="capacity")]
    print(capacities, min(capacities[2:]))
PY
)
same "capacities, the slower one of the last two; GML, then GraphML" "$seen" \
  "[1000000000, '10000000000', '40000000000', '100000000000'] 100000000000
[1000000000, 10000000000, 40000000000, 100000000000] 40000000000"
