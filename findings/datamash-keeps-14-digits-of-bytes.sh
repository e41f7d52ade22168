#!/usr/bin/env bash
# Guess: datamash prints sums of integers exactly as long as its long doubles hold them, far beyond a petabyte in bytes.
# Seen:  14 digits of each result are printed: from 100 TB on sum and even max are rounded, and the difference of two
#        totals is gone. With --format %.0f they are exact.
# With:  datamash 1.7 (Debian bookworm).
set -euo pipefail
debs=(datamash=1.7-2)

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

column=$(printf '%s\n' 123456789012345 123456789012346)
seen=$(usr/bin/datamash sum 1 max 1 <<<"$column" | xargs)
exact=$(usr/bin/datamash --format %.0f sum 1 max 1 <<<"$column" | xargs)
same "sum and max of 123456789012345 and 123456789012346" "$seen" "2.4691357802469e+14 1.2345678901235e+14"
same "with --format %.0f" "$exact" "246913578024691 123456789012346"
