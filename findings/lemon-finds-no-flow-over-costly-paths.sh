#!/usr/bin/env bash
# Guess: LEMON's dimacs-solver finds the cheapest flow of a problem in which each number, and the flow's cost, fits
#        into its int.
# Seen:  where a path that is needed costs 2^30 or more it finds no feasible flow, though there is one that costs
#        1,200,000,003: the solver gives what it cannot send a cost of 2^30, and leaves it there. A path of 10^9 is
#        taken, and with -long the other as well.
# With:  LEMON 1.3.1 (Debian bookworm).
set -euo pipefail
debs=(liblemon-utils=1.3.1+dfsg-6 liblemon1.3.1=1.3.1+dfsg-6)

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

flow() { # cost of a link, options
  printf '%s\n' "p min 3 3" "n 1 4" "n 3 -4" "a 1 2 0 10 $1" "a 2 3 0 10 $1" "a 1 3 0 3 1" |
    usr/bin/dimacs-solver "${@:2}" 2>&1 | grep -iE "^(feasible|min)" | tr '\n' ' '
}
same "two links of 500,000,000" "$(flow 500000000)" "Feasible flow: found Min flow cost: 1000000003 "
same "of 600,000,000" "$(flow 600000000)" "Feasible flow: not found "
same "of 600,000,000, with -long" "$(flow 600000000 -long)" "Feasible flow: found Min flow cost: 1200000003 "
