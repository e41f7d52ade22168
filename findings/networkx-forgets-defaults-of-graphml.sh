#!/usr/bin/env bash
# Guess: networkx gives an edge that has no value of its own the <default> that a GraphML key declares, as the format
#        says.
# Seen:  the default ends up in graph["edge_default"] and no edge has it: two of three links are without capacity,
#        which networkx's maximum flow takes for infinite. igraph reads the same file with all capacities.
# With:  networkx 2.8.8, python-igraph 0.10.2 (Debian bookworm).
set -euo pipefail
debs=(
  python3-networkx=2.8.8-1 python3-igraph=0.10.2-1+b1 libigraph3=0.10.2+ds-2 libarpack2=3.8.0-3 libplfit0
  libglpk40=5.0-1 libblas3=3.11.0-2 liblapack3=3.11.0-2 libgfortran5 libquadmath0 libamd2=1:5.12.0+dfsg-2
  libcolamd2=1:5.12.0+dfsg-2 libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7 libgomp1 libxml2 libicu72
  python3-texttable=1.6.7-1
)

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
LD_LIBRARY_PATH+=":$dir/usr/lib/$(uname -m)-linux-gnu/blas:$dir/usr/lib/$(uname -m)-linux-gnu/lapack"
cat >fabric.graphml <<'XML'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="c" for="edge" attr.name="capacity" attr.type="int"><default>10</default></key>
  <graph edgedefault="directed">
    <node id="a"/><node id="b"/><node id="c"/>
    <edge source="a" target="b"/>
    <edge source="b" target="c"/>
    <edge source="a" target="c"><data key="c">40</data></edge>
  </graph>
</graphml>
XML
seen=$(/usr/bin/python3 - 2>/dev/null <<'PY'
import igraph
import networkx as nx
g = nx.read_graphml("fabric.graphml")
print("networkx", [d.get("capacity") for _, _, d in g.edges(data=True)], g.graph["edge_default"])
try:
    print("maximum flow", nx.maximum_flow_value(g, "a", "c"))
except nx.NetworkXUnbounded:
    print("maximum flow unbounded")
h = igraph.Graph.Read_GraphML("fabric.graphml")
print("igraph", [int(c) for c in h.es["capacity"]], "maximum flow", h.maxflow_value(0, 2, "capacity"))
PY
)
same "capacities" "$seen" "networkx [None, 40, None] {'capacity': 10}
maximum flow unbounded
igraph [10, 10, 40] maximum flow 50.0"
