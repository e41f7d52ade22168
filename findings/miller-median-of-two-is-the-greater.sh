#!/usr/bin/env bash
# Guess: Miller's median of 1, 2, 3, 4 is 2.5, or 2 by nearest rank.
# Seen:  it is 3, and of 1 and 9 it is 9; p25 of the four is 2: where a percentile falls between two samples it is the
#        upper one. With -i it is interpolated.
# With:  Miller 6.6.0 (Debian bookworm).
set -euo pipefail
debs=(miller=6.6.0-2+b3)

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

stats() { # samples, options
  local samples=$1
  shift
  tr ' ' '\n' <<<"$samples" | usr/bin/mlr --inidx --onidx stats1 "$@" -a median,p25 -f 1
}
same "median and p25 of 1 to 4" "$(stats "1 2 3 4")" "3 2"
same "of 1 and 9" "$(stats "1 9")" "9 1"
same "of 1 to 4 with -i" "$(stats "1 2 3 4" -i)" "2.5 1.75"
