#!/usr/bin/env bash
# Guess: dpkt's pcapng reader scales a packet's time by the resolution (if_tsresol) of the interface that took it.
# Seen:  by that of the first interface alone: beside an interface that counts microseconds, a packet of one that counts
#        nanoseconds comes at a thousand times its time, in the year 55840, without an error. Scapy reads it right.
# With:  dpkt 1.9.8, scapy 2.5.0 (Debian bookworm).
set -euo pipefail
debs=(python3-dpkt=1.9.8-1 python3-scapy=2.5.0+dfsg-2)

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
seen=$(/usr/bin/python3 - 2>/dev/null <<'PY'
import struct
import dpkt
from scapy.utils import rdpcap


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def interface(digits):  # Ethernet, with if_tsresol
    return block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3x", 9, 1, digits) + struct.pack("<HH", 0, 0))


def packet(of, ticks):
    frame = bytes(range(12)) + b"\x88\xb5" + bytes(46)
    return block(6, struct.pack("<IIIII", of, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)) + frame)


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
with open("two.pcapng", "wb") as file:
    file.write(section + interface(6) + interface(9))
    file.write(packet(0, 1700000000 * 10**6) + packet(1, 1700000001 * 10**9) + packet(0, 1700000002 * 10**6))
with open("two.pcapng", "rb") as file:
    print("dpkt", *(int(t) for t, _ in dpkt.pcapng.Reader(file)))
print("scapy", *(int(p.time) for p in rdpcap("two.pcapng")))
PY
)
same "seconds of three packets" "$seen" "dpkt 1700000000 1700000001000 1700000002
scapy 1700000000 1700000001 1700000002"
