#!/usr/bin/env bash
# Guess: networkx reads `tor1:eth1 -- spine1:eth1` of a DOT file as an edge between tor1 and spine1, as Graphviz does.
# Seen:  node and port become one node, "tor1:eth1": a connected fabric of three switches falls into three pieces, and
#        no switch has more than one link. No error, no warning.
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
echo 'graph { tor1:eth1 -- spine1:eth1; tor2:eth1 -- spine1:eth2; tor1:eth2 -- tor2:eth2 }' >ports.dot
sed 's/:eth.//g' ports.dot >plain.dot
seen=$(/usr/bin/python3 - 2>/dev/null <<'PY'
import networkx as nx
for name in "plain", "ports":
    g = nx.nx_pydot.read_dot(name + ".dot")
    print(f"{name}: {g.number_of_nodes()} nodes in {nx.number_connected_components(g)}", end="; ")
PY
)
same "fabric" "$seen" "plain: 3 nodes in 1; ports: 6 nodes in 3; "
