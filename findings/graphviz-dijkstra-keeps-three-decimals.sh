#!/usr/bin/env bash
# Guess: Graphviz's dijkstra gives distances with the digits of the edges' lengths, say of delays in seconds.
# Seen:  with three decimals: over links of less than half a millisecond all nodes are at a distance of 0.000, though
#        paths are chosen rightly. In microseconds the distances are right.
# With:  graphviz 2.42.2 (Debian bookworm).
set -euo pipefail
debs=(graphviz=2.42.2-7+deb12u1 libcgraph6=2.42.2-7+deb12u1 libcdt5=2.42.2-7+deb12u1)

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

distances() { # lengths of three links
  usr/bin/dijkstra -p leaf <<DOT |
graph { leaf -- core [len=$1]; leaf -- spine [len=$2]; spine -- core [len=$3]; }
DOT
    sed -n 's/^\t\([a-z]*\)\t\[dist=\([^],]*\).*/\1 \2/p; s/.*\(prev=[a-z]*\).*/\1/p' | xargs
}
same "in seconds" "$(distances 0.0004 0.0001 0.00025)" \
  "leaf 0.000 core 0.000 prev=spine spine 0.000 prev=leaf"
same "in microseconds" "$(distances 400 100 250)" \
  "leaf 0.000 core 350.000 prev=spine spine 100.000 prev=leaf"
