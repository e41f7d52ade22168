#!/usr/bin/env bash
# Guess: python3-ipfix reads flowStartMicroseconds, a time in the NTP format, as the time that it is.
# Seen:  as one 70 years later: its seconds count from 1970, where IPFIX's count from 1900 (RFC 7011, 6.1.9). The same
#        flow's flowStartMilliseconds is right.
# With:  ipfix 0.9.7 (Debian bookworm's python3-ipfix).
set -euo pipefail
debs=(python3-ipfix=0.9.7-3)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
seen=$(/usr/bin/python3 -W ignore - <<'PY'
import io
import struct
import ipfix.ie
import ipfix.reader

UNIX, NTP = 1700000000, 1700000000 + 2208988800  # the same second, from 1970 and from 1900


def block(kind, body):
    return struct.pack("!HH", kind, len(body) + 4) + body


ipfix.ie.use_iana_default()
sets = block(2, struct.pack("!6H", 256, 2, 152, 8, 154, 8))  # flowStartMilliseconds, flowStartMicroseconds
sets += block(256, struct.pack("!QII", UNIX * 1000 + 500, NTP, 1 << 31))
message = struct.pack("!HHIII", 10, 16 + len(sets), UNIX, 0, 1) + sets
for flow in ipfix.reader.from_stream(io.BytesIO(message)).namedict_iterator():
    for name, time in sorted(flow.items()):
        print(name, time)
PY
)
same "the start of a flow in two formats" "$seen" "flowStartMicroseconds 2093-11-13 22:13:20.500000
flowStartMilliseconds 2023-11-14 22:13:20.500000"
