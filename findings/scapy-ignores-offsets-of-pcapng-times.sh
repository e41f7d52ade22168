#!/usr/bin/env bash
# Guess: scapy adds an interface's if_tsoffset to the times of its packets, as dpkt and tcpdump do.
# Seen:  it passes over the offset: packets of an interface whose times count from the start of the trace come in 1970.
#        No warning is given.
# With:  scapy 2.5.0, dpkt 1.9.8 (Debian bookworm).
set -euo pipefail
debs=(python3-scapy=2.5.0+dfsg-2 python3-dpkt=1.9.8-1)

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
seen=$(/usr/bin/python3 - 2>warnings <<'PY'
import struct
import dpkt
from scapy.utils import rdpcap

START = 1_700_000_000


def block(kind, body):
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def packet(seconds):
    microseconds = int(seconds * 10**6)
    return block(6, struct.pack("<IIIII", 0, microseconds >> 32, microseconds & 0xFFFFFFFF, 60, 60) + bytes(60))


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
offset = struct.pack("<HHqI", 14, 8, START, 0)
for options, first in (offset, 0), (b"", START):
    interface = block(1, struct.pack("<HHI", 1, 0, 0) + options)
    with open("trace.pcapng", "wb") as trace:
        trace.write(section + interface + packet(first + 1) + packet(first + 2.5))
    with open("trace.pcapng", "rb") as trace:
        by_dpkt = [float(time) for time, _ in dpkt.pcapng.Reader(trace)]
    print("scapy", [float(p.time) for p in rdpcap("trace.pcapng")], "dpkt", by_dpkt)
PY
)
same "with an offset and without" "$seen" "scapy [1.0, 2.5] dpkt [1700000001.0, 1700000002.5]
scapy [1700000001.0, 1700000002.5] dpkt [1700000001.0, 1700000002.5]"
same "warnings about offsets" "$(grep -ci offset warnings || true)" 0
