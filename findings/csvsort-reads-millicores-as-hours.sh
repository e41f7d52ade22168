#!/usr/bin/env bash
# Guess: csvsort puts lines in order and leaves their fields as they are.
# Seen:  it guesses types and writes each field anew: 250m of CPU becomes 4:10:00, 512M of memory 8:32:00, port 1/2 the
#        second of January 2001, a 0 or 1 False or True, rack 007 rack 7. Exit 0; with --no-inference all stay.
# With:  csvkit 1.0.7, agate 1.6.3 (Debian bookworm).
set -euo pipefail
debs=(
  csvkit=1.0.7-1 python3-csvkit=1.0.7-1 python3-agate=1.6.3-2 python3-pytimeparse=1.1.5-3
  python3-parsedatetime=2.6-3 python3-agatesql python3-agateexcel python3-agatedbf python3-babel
  python-babel-localedata python3-isodate python3-slugify python3-six python3-leather python3-text-unidecode
  python3-unidecode python3-tz
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
cat >pods.csv <<'CSV'
pod,cpu,memory,port,gpu,rack
b,100m,64M,1/3,0,012
a,250m,512M,1/2,1,007
CSV
cat pods.csv
seen=$(/usr/bin/python3 usr/bin/csvsort -c pod pods.csv)
kept=$(/usr/bin/python3 usr/bin/csvsort --no-inference -c pod pods.csv)
same "sorted" "$seen" "pod,cpu,memory,port,gpu,rack
a,4:10:00,8:32:00,2001-01-02,True,7
b,1:40:00,1:04:00,2001-01-03,False,12"
same "with --no-inference" "$kept" "pod,cpu,memory,port,gpu,rack
a,250m,512M,1/2,1,007
b,100m,64M,1/3,0,012"
