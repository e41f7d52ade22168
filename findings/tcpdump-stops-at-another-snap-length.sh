#!/usr/bin/env bash
# Guess: tcpdump reads a pcapng file of two interfaces that were captured with different snap lengths: the format has
#        one for each interface.
# Seen:  libpcap stops at the second interface with an error, and what was described first counts for all: of four
#        packets it prints those before that interface's description. Equal lengths, and all four come.
# With:  tcpdump 4.99.3 with libpcap 1.10.3 (Debian bookworm).
set -euo pipefail
debs=(tcpdump=4.99.3-1 libpcap0.8=1.10.3-1)

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

python3 - <<'PY'
import struct

def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
interface = lambda snap: block(1, struct.pack("<HHI", 1, 0, snap))
frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + bytes(46)
packet = lambda i: block(6, struct.pack("<IIIII", i, 0, 0, len(frame), len(frame)) + frame)

for name, second in ("equal", 262144), ("unlike", 65535):
    with open(name, "wb") as f:
        f.write(section + interface(262144) + packet(0) + packet(0) + interface(second) + packet(1) + packet(0))
PY
read_by_tcpdump() {
  local status=0
  usr/bin/tcpdump -Z "$(id -un)" -nr "$1" >out 2>err || status=$?
  echo "$(grep -c '^[0-9]' out) packets, exit $status"
}
same "equal lengths" "$(read_by_tcpdump equal)" "4 packets, exit 0"
same "unlike ones" "$(read_by_tcpdump unlike)" "2 packets, exit 1"
same "tcpdump says" "$(tail -1 err)" "tcpdump: pcap_loop: an interface has a snapshot length 65535 different from the\
 snapshot length of the first interface"
