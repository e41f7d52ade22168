#!/usr/bin/env bash
# Guess: times of nfdump -o json, which have the form of RFC 3339 with a T and milliseconds, are UTC or carry a zone.
# Seen:  they are in the zone of the machine that runs nfdump, and do not say so: one file of flows gives two instants
#        on two machines, and where clocks go back two flows an hour apart have one time.
# With:  nfdump 1.7.1 (Debian bookworm).
set -euo pipefail
debs=(nfdump=1.7.1-2+deb12u1 libpcap0.8 libdbus-1-3)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
export LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu:$dir/lib/x86_64-linux-gnu"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.pl <<'PL'
# Two IPv4 packets with one byte of UDP, at 05:30 and 06:30 UTC of the day when New York puts its clocks back.
binmode STDOUT;
print pack "VvvlVVV", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1;
for my $flow ([1699162200, 1001], [1699165800, 1002]) {
  my $packet = pack "H28 CCnnnCCn C4 C4 nnnn a", "020000000002020000000001" . "0800",
    0x45, 0, 29, 1, 0, 64, 17, 0, 10, 0, 0, 1, 10, 0, 1, 1, $flow->[1], 9, 9, 0, "x";
  print pack "VVVV", $flow->[0], 0, length $packet, length $packet;
  print $packet;
}
PL
perl main.pl >trace.pcap
mkdir flows
usr/bin/nfpcapd -r trace.pcap -w flows >/dev/null 2>&1
first() { # of each flow, in a zone
  for file in flows/nfcapd.2*; do TZ=$1 usr/bin/nfdump -q -r "$file" -o json; done | grep -o '"first" : [^,]*' |
    sort | cut -d'"' -f4 | xargs
}
same "two flows in UTC" "$(first UTC)" "2023-11-05T05:30:00.000 2023-11-05T06:30:00.000"
same "in New York" "$(first America/New_York)" "2023-11-05T01:30:00.000 2023-11-05T01:30:00.000"
