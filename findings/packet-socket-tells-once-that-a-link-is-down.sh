#!/usr/bin/env bash
# Guess: reading a packet socket of an interface that is down waits until there is a frame; or fails for as long as it
#        is down.
# Seen:  the first read fails with ENETDOWN, and the next one waits: the error is told once, and is gone. When the
#        interface is up again the same socket goes on. A reader that gives up at an error ends at the first flap.
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
import errno, socket, subprocess

tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
tap.bind(("v1", 0x88b5))
tap.settimeout(0.5)
send = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
send.bind(("v0", 0))

def read():
    try:
        return f"{len(tap.recv(2000))} bytes"
    except TimeoutError:
        return "waits"
    except OSError as e:
        return errno.errorcode[e.errno]

subprocess.run(["ip", "link", "set", "v1", "down"], check=True)
told = [read(), read()]
subprocess.run(["ip", "link", "set", "v1", "up"], check=True)
for _ in range(20):  # the cable may not be ready for the first ones
    send.send(b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + bytes(50))
    if (got := read()) != "waits":
        break
print(*told, "then", got)
PY
)
same "reads while the interface is down, and after" "$seen" "ENETDOWN waits then 64 bytes"
