#!/usr/bin/env bash
# Guess: a capacity that does not fit into the int of LEMON's dimacs-solver (3,000,000,000 bit/s) is refused, or costs
#        that arc alone.
# Seen:  all arcs that come after it in the file are left out, without a word and with exit 0: the maximum flow depends
#        on the order of the lines. The number of arcs that it tells is the header's. With -long all are read.
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

fast="a 1 3 3000000000"
rest="a 3 4 5
a 1 2 7
a 2 4 7"
flow() { # options, with the arcs on standard input
  { printf '%s\n' "p max 4 4" "n 1 s" "n 4 t" && cat; } | usr/bin/dimacs-solver "$@" 2>&1 |
    sed -n 's/^Max flow value: */flow /p; s/^Num of \(arcs\): */\1 /p' | paste -sd' '
}
same "its line last" "$(printf '%s\n' "$rest" "$fast" | flow)" "arcs 4 flow 12"
same "its line in the middle" "$(printf '%s\n' "${rest%$'\n'*}" "$fast" "${rest##*$'\n'}" | flow)" "arcs 4 flow 5"
same "its line first" "$(printf '%s\n' "$fast" "$rest" | flow)" "arcs 4 flow 0"
same "its line first, with -long" "$(printf '%s\n' "$fast" "$rest" | flow -long)" "arcs 4 flow 12"
