#!/usr/bin/env bash
# Guess: a packet socket sees frames that its host sends, whichever type it was opened for: all of them or one.
# Seen:  only a socket for all types does. One for a single type, such as LLDP's, sees what comes in and nothing that
#        goes out, so a program that looks for its host's own announcements never finds any.
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
import socket, time

TYPE, ALL = 0x88b5, 3
frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + bytes(50)

def tap(interface, protocol):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((interface, protocol))
    s.setblocking(False)
    return s

def count(s):
    n = 0
    try:
        while True:
            n += s.recv(2000)[12:14] == b"\x88\xb5"
    except BlockingIOError:
        return n

send = tap("v0", 0)
there = tap("v1", TYPE)
while not count(there):  # until the cable is ready
    send.send(frame)
    time.sleep(0.01)
taps = {(i, p): tap(i, p) for i in ("v0", "v1") for p in (TYPE, ALL)}
for _ in range(10):
    send.send(frame)
time.sleep(0.2)
print("out by v0, by type", count(taps["v0", TYPE]), "all", count(taps["v0", ALL]),
      "; in by v1, by type", count(taps["v1", TYPE]), "all", count(taps["v1", ALL]))
PY
)
same "frames of ten" "$seen" "out by v0, by type 0 all 10 ; in by v1, by type 10 all 10"
