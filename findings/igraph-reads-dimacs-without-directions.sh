#!/usr/bin/env bash
# Guess: igraph reads the arcs of a DIMACS maximum-flow problem as arcs, since the format has no other edges.
# Seen:  Read_DIMACS makes an undirected graph by default: flow runs against the arcs, and a sink that no path reaches
#        gets 5. With directed=True it gets 0.
# With:  igraph 0.10.2 (Debian bookworm).
set -euo pipefail
debs=(
  python3-igraph=0.10.2-1+b1 libigraph3=0.10.2+ds-2 python3-texttable libblas3=3.11.0-2 liblapack3=3.11.0-2
  libgfortran5 libquadmath0 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
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
printf 'p max 4 3\nn 1 s\nn 4 t\na 1 2 5\na 3 2 5\na 3 4 5\n' >fabric.dimacs
cat fabric.dimacs
seen=$(/usr/bin/python3 - <<'PY'
import igraph
for options in {}, {"directed": True}:
    g = igraph.Graph.Read_DIMACS("fabric.dimacs", **options)
    print(g.maxflow(g["source"], g["target"], "capacity").value, end="; ")
PY
)
same "flow by default, with directed=True" "$seen" "5.0; 0.0; "
