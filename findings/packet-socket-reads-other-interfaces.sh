#!/usr/bin/env bash
# Guess: a packet socket that is bound to an interface before its first read gives frames of that interface only.
# Seen:  between socket() with a protocol and bind() it takes frames of every interface, and keeps them: the first
#        frame read is another interface's. Opened with protocol 0 and given the protocol by bind, it gives none.
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

ip link set lo up
ip link add v0 type veth peer v1
ip link set v0 up
ip link set v1 up
seen=$(python3 - <<'PY'
import socket

ALL = 3
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for protocol in (socket.htons(ALL), 0):
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, protocol)
    talk.sendto(b"hello", ("127.0.0.1", 9))
    tap.bind(("v1", ALL))
    tap.settimeout(0.5)
    foreign = set()
    try:
        while True:
            foreign.add(tap.recvfrom(2000)[1][0])
    except TimeoutError:
        pass
    print("frames of lo" if "lo" in foreign else "none of lo", end="; ")
PY
)
same "bound to v1, protocol given first, then by bind" "$seen" "frames of lo; none of lo; "
