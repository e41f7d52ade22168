#!/usr/bin/env bash
# Guess: an edge attribute link_delay that igraph writes into a GML file is link_delay where networkx reads it.
# Seen:  igraph leaves out all but letters and digits, without a warning: it is linkdelay, and rate_2 and rate2 become
#        one list. networkx's shortest path by link_delay finds none, takes 1 for each link, and goes over the slow one.
#        GraphML keeps the names.
# With:  igraph 0.10.2, networkx 2.8.8 (Debian bookworm).
set -euo pipefail
debs=(
  python3-networkx=2.8.8-1 python3-igraph=0.10.2-1+b1 libigraph3=0.10.2+ds-2 python3-texttable libblas3=3.11.0-2
  liblapack3=3.11.0-2 libgfortran5 libquadmath0 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
  libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7
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
seen=$(/usr/bin/python3 - <<'PY'
import igraph
import networkx

fabric = igraph.Graph(edges=[(0, 1), (1, 2), (0, 2)])
fabric.vs["name"] = ["a", "b", "c"]
fabric.es["link_delay"] = [1, 1, 5]
fabric.es["rate_2"] = [10, 10, 10]
fabric.es["rate2"] = [40, 40, 40]
fabric.write_gml("fabric.gml")
fabric.write_graphml("fabric.graphml")
gml = networkx.read_gml("fabric.gml", label="name")
graphml = networkx.read_graphml("fabric.graphml")
graphml = networkx.relabel_nodes(graphml, dict(graphml.nodes(data="name")))
for graph in gml, graphml:
    print(graph.edges["a", "c"], networkx.shortest_path(graph, "a", "c", weight="link_delay"))
PY
)
same "a link's attributes and the path by delay, from GML and from GraphML" "$seen" \
  "{'linkdelay': 5, 'rate2': [10, 40]} ['a', 'c']
{'link_delay': 5.0, 'rate_2': 10.0, 'rate2': 40.0} ['a', 'b', 'c']"
