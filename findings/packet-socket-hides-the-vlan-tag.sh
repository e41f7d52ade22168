#!/usr/bin/env bash
# Guess: a packet socket of type SOCK_RAW gives a frame as it was on the cable, 802.1Q tag and all.
# Seen:  the tag is taken out first. A socket for all types finds the VLAN in PACKET_AUXDATA; a socket for the inner
#        type gets the frames of every VLAN, 4 bytes short, and not even there a word of which VLAN they are of.
# With:  Linux 6.18.
set -euo pipefail

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in ip tc python3; do
    command -v $tool >/dev/null || { echo "needs $tool"; exit 77; }
  done
  exec timeout 110 unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside
fi
mount -t tmpfs none /run
echo "Linux $(uname -r), $(ip -V)"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

ip link add v0 type veth peer v1
ip link set v0 up
ip link set v1 up
seen=$(python3 - <<'PY'
import socket, struct

TYPE, ALL, SOL_PACKET, PACKET_AUXDATA = 0x88b5, 3, 263, 8
send = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
send.bind(("v0", 0))
frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01" + struct.pack("!HHH", 0x8100, 7, TYPE) + bytes(50)

def receive(protocol):
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    tap.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    tap.bind(("v1", protocol))
    tap.settimeout(0.2)
    for _ in range(25):  # the cable may not be ready for the first ones
        send.send(frame)
        try:
            while True:
                got, extra, _, _ = tap.recvmsg(2000, 100)
                if got.endswith(bytes(50)) and len(got) in (64, 68):
                    vlan = struct.unpack_from("=IIIHHHH", extra[0][2])[5]
                    return f"{len(got)} bytes, type {got[12:14].hex()}, VLAN {vlan} beside it"
        except TimeoutError:
            pass

print(f"sent {len(frame)}; for all: {receive(ALL)}; for the type: {receive(TYPE)}")
PY
)
same "frame" "$seen" \
  "sent 68; for all: 64 bytes, type 88b5, VLAN 7 beside it; for the type: 64 bytes, type 88b5, VLAN 0 beside it"
