#!/usr/bin/env bash
# Guess: an edge of a GraphML file without a value for a boolean key has none in igraph, as a number is NaN there.
# Seen:  it is False, and is written as false: a link that does not say whether it is up is down from then on. With a
#        `<default>` of true it is True.
# With:  igraph 0.10.2 (Debian bookworm).
set -euo pipefail
debs=(
  python3-igraph=0.10.2-1+b1 libigraph3=0.10.2+ds-2 python3-texttable libblas3=3.11.0-2
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

graph() { # what the key's declaration holds
  cat <<XML
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="u" for="edge" attr.name="up" attr.type="boolean">$1</key>
<key id="c" for="edge" attr.name="capacity" attr.type="double"/>
<graph edgedefault="undirected">
<node id="tor0"/><node id="tor1"/><node id="spine0"/>
<edge source="tor0" target="spine0"><data key="u">true</data><data key="c">1e9</data></edge>
<edge source="tor1" target="spine0"/>
</graph></graphml>
XML
}
cat >main.py <<'PY'
import igraph, sys
fabric = igraph.Graph.Read_GraphML(sys.argv[1])
print(*fabric.es["up"], *fabric.es["capacity"])
fabric.write_graphml("out.graphml")
PY
graph "" >fabric.graphml
graph "<default>true</default>" >default.graphml
same "up and capacity of two edges, of which the second says neither" \
  "$(/usr/bin/python3 main.py fabric.graphml)" "True False 1000000000.0 nan"
same "edges that are down in the file written" "$(grep -c '>false<' out.graphml)" "1"
same "with a default" "$(/usr/bin/python3 main.py default.graphml)" "True True 1000000000.0 nan"
