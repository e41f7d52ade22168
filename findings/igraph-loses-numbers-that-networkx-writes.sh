#!/usr/bin/env bash
# Guess: igraph reads the capacities of a GraphML file that networkx wrote, whether some are integers and others
#        floats.
# Seen:  networkx writes two keys for one attribute, one of type int or long and one double, and reads them as one
#        again. igraph takes the two for one column in which the first edge's capacity is there and the other's is
#        NaN.
# With:  networkx 2.8.8, igraph 0.10.2 (Debian bookworm).
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
libs="$dir/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH="$libs:$libs/blas:$libs/lapack"
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.py <<'PY'
import igraph, networkx
fabric = networkx.Graph()
fabric.add_edge("tor0", "spine0", capacity=10_000_000_000)
fabric.add_edge("tor1", "spine0", capacity=2.5e9)
networkx.write_graphml(fabric, "fabric.graphml")
print(*(d["capacity"] for _, _, d in networkx.read_graphml("fabric.graphml").edges(data=True)))
print(*igraph.Graph.Read_GraphML("fabric.graphml").es["capacity"])
PY
same "capacities that networkx and igraph read" "$(/usr/bin/python3 -W ignore main.py)" "10000000000 2500000000.0
10000000000.0 nan"
same "keys for capacity in the file" "$(grep -c 'attr.name="capacity"' fabric.graphml)" "2"
