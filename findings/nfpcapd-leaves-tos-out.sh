#!/usr/bin/env bash
# Guess: flows that nfpcapd makes of packets carry their TOS, since nfdump's format and filters have it.
# Seen:  it is 0 for packets marked EF: statistics by TOS have one row, and a filter "tos 184" finds nothing.
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
# One IPv4 packet with a byte of UDP, with TOS 0xb8.
binmode STDOUT;
print pack "VvvlVVV", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1;
my $packet = pack "H28 CCnnnCCn C4 C4 nnnn a", "020000000002020000000001" . "0800",
  0x45, 0xb8, 29, 1, 0, 64, 17, 0, 10, 0, 0, 1, 10, 0, 1, 1, 1001, 9, 9, 0, "x";
print pack "VVVV", 1700000000, 0, length $packet, length $packet;
print $packet;
PL
perl main.pl >trace.pcap
mkdir flows
usr/bin/nfpcapd -r trace.pcap -w flows >/dev/null 2>&1
flows() { usr/bin/nfdump -q -r flows/nfcapd.2* -o 'fmt:%sa %da %pkt %tos' "$@" | xargs; }
same "addresses, packets and TOS" "$(flows)" "10.0.0.1 10.0.1.1 1 0"
same "flows with TOS 184" "$(flows 'tos 184')" "No matching flows"
