#!/usr/bin/env bash
# Guess: `tcpdump -r trace -w part` copies packets as they are, with the nanoseconds of a trace that has them.
# Seen:  the copy is a file of microseconds, cut short, and says so only by its magic number: packets 100 ns apart are
#        at one time, and a trace in pcapng becomes such a file too. With --nano they are kept.
# With:  tcpdump 4.99.3, libpcap 1.10.3 (Debian bookworm).
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

command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
python3 - <<'PY'
import struct

frame = bytes(range(12)) + b"\x88\xb5" + bytes(46)
size = len(frame)
times = [1_700_000_000_123_456_100, 1_700_000_000_123_456_200]
with open("trace.pcap", "wb") as trace:
    trace.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
    for time in times:
        trace.write(struct.pack("<IIII", *divmod(time, 10**9), size, size) + frame)
with open("trace.pcapng", "wb") as trace:
    trace.write(struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28))
    trace.write(struct.pack("<IIHHIHHB3xHHI", 1, 32, 1, 0, 65535, 9, 1, 9, 0, 0, 32))
    for time in times:
        trace.write(struct.pack("<IIIIIII", 6, 32 + size, 0, time >> 32, time & 0xFFFFFFFF, size, size))
        trace.write(frame + struct.pack("<I", 32 + size))
PY
packets() { # a file: its magic number, and the fractions of a second of its packets
  echo "$(od -An -tx4 -N4 "$1" | xargs)" \
    "$(usr/bin/tcpdump -Z root --nano -tt -r "$1" 2>/dev/null | sed -n 's/^[0-9]*\.\([0-9]*\) .*/\1/p' | xargs)"
}
for format in pcap pcapng; do
  usr/bin/tcpdump -Z root -r trace.$format -w copy.pcap 2>/dev/null
  usr/bin/tcpdump -Z root --nano -r trace.$format -w nano.pcap 2>/dev/null
  same "copies of $format" "$(packets copy.pcap), with --nano $(packets nano.pcap)" \
    "a1b2c3d4 123456000 123456000, with --nano a1b23c4d 123456100 123456200"
done
