#!/usr/bin/env bash
# Guess: SO_PRIORITY (which queue of this host) and IP_TOS (the tag in the packet) of a socket are independent; or the
#        priority follows the tag, and is highest for CS7 and EF.
# Seen:  every change of IP_TOS sets the priority anew, by four bits of the old meaning of TOS: 0x10 gives 6, EF
#        (0xb8) gives 4, CS7 (0xe0) gives 0. SO_PRIORITY lasts only if it is set afterwards.
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

seen=$(python3 - <<'PY'
import socket
s = socket.socket()
for tos in (0x00, 0x08, 0x10, 0x78, 0xb8, 0xe0):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 5)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    print(f"{tos:#04x}:{s.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY)}", end=" ")
s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 5)
print("then", s.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY))
PY
)
same "priority 5 after IP_TOS" "$seen" "0x00:5 0x08:2 0x10:6 0x78:4 0xb8:4 0xe0:0 then 5"
