#!/usr/bin/env bash
# Guess: an edge with directed="true" is directed in a graph whose edgedefault is "undirected", and the reverse: by the
#        GraphML primer the default counts for edges that do not say. A one-way circuit stands beside cables so.
# Seen:  igraph passes over the attribute, without a warning: light comes back through the circuit. networkx refuses
#        such a file. graphology keeps the circuit one way, and makes a cable among directed edges one way.
# With:  igraph 0.10.2, networkx 2.8.8 (Debian bookworm), graphology-graphml 0.5.2, graphology 0.26.0 (npm).
set -euo pipefail
debs=(
  python3-igraph=0.10.2-1+b1 libigraph3=0.10.2+ds-2 python3-texttable libblas3=3.11.0-2
  liblapack3=3.11.0-2 libgfortran5 libquadmath0 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
  libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7 python3-networkx=2.8.8-1
)
packages=(graphology@0.26.0 graphology-graphml@0.5.2 @xmldom/xmldom@0.8.10)

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
libs="$dir/usr/lib/$(uname -m)-linux-gnu"
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

graph() { # edgedefault, the attribute of the edge from b to c
  cat <<XML
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <graph id="fabric" edgedefault="$1">
    <node id="a"/><node id="b"/><node id="c"/>
    <edge source="a" target="b"/>
    <edge source="b" target="c" directed="$2"/>
  </graph>
</graphml>
XML
}
graph undirected true >circuit.graphml
graph directed false >cable.graphml

cat >igraph.read.py <<'PY'
import sys, igraph

graph = igraph.Graph.Read_GraphML(sys.argv[1])
print("reaches from c:", " ".join(graph.vs[v]["id"] for v in graph.subcomponent(2, mode="out") if v != 2) or "nothing")
PY
cat >networkx.read.py <<'PY'
import sys, networkx

try:
    networkx.read_graphml(sys.argv[1])
except networkx.NetworkXError as refused:
    print(refused)
PY
cat >main.js <<'JS'
const { parse } = require("graphology-graphml"), Graph = require("graphology");
const graph = parse(Graph, require("fs").readFileSync(process.argv[2], "utf8"));
const ways = graph.mapEdges((edge, _, a, b) => `${a}-${b} ${graph.isDirected(edge) ? "one way" : "both"}`);
console.log(graph.type, ways.join(", "));
JS
igraph() { LD_LIBRARY_PATH="$libs:$libs/blas:$libs/lapack" /usr/bin/python3 igraph.read.py "$1"; }
same "graphology, undirected but for b-c" "$(node main.js circuit.graphml)" "mixed a-b both, b-c one way"
same "graphology, directed but for b-c" "$(node main.js cable.graphml)" "directed a-b one way, b-c one way"
same "networkx" "$(/usr/bin/python3 networkx.read.py circuit.graphml)" "directed=true edge found in undirected graph."
same "igraph, undirected but for b-c" "$(igraph circuit.graphml)" "reaches from c: b a"
same "igraph, directed but for b-c" "$(igraph cable.graphml)" "reaches from c: nothing"
