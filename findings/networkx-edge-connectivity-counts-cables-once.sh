#!/usr/bin/env bash
# Guess: edge_connectivity and minimum_edge_cut of a MultiGraph count parallel edges, or refuse it as maximum_flow does.
# Seen:  they count two cables between the same switches as one, without an error: in a ring of four switches with two
#        cables each, any two switches are said to fall apart when two cables are cut, which takes four. igraph says
#        four.
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
seen=$(/usr/bin/python3 - 2>/dev/null <<'PY'
import igraph
import networkx as nx

cables = [(i, (i + 1) % 4) for i in range(4)] * 2
ring = nx.MultiGraph(cables)
print("networkx", ring.number_of_edges(), "cables, connectivity", nx.edge_connectivity(ring),
      "between two", nx.edge_connectivity(ring, 0, 2), "paths", len(list(nx.edge_disjoint_paths(ring, 0, 2))))
cut = nx.minimum_edge_cut(ring)
ring.remove_edges_from(cut)
print("cut", len(cut), "still connected", nx.is_connected(ring))
try:
    nx.maximum_flow_value(ring, 0, 2)
except nx.NetworkXError as e:
    print("maximum flow:", e)
other = igraph.Graph(4, cables)
print("igraph connectivity", other.edge_connectivity(), "paths", other.edge_disjoint_paths(0, 2))
PY
)
same "ring of four switches, two cables each" "$seen" "networkx 8 cables, connectivity 2 between two 2 paths 2
cut 2 still connected True
maximum flow: MultiGraph and MultiDiGraph not supported (yet).
igraph connectivity 4 paths 4"
