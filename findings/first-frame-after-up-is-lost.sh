#!/usr/bin/env bash
# Guess: once both ends of a veth pair are set up, and the calls have returned, a frame that is sent arrives.
# Seen:  of such first frames about half are lost: the interface still has the queue that drops everything, until a
#        worker of the kernel has noticed the carrier, some milliseconds later. The send succeeds all the same; only
#        the interface counts a drop.
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

sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
seen=$(python3 - <<'PY'
import fcntl, socket, struct, subprocess

ctl = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

def up(name):
    fcntl.ioctl(ctl, 0x8914, struct.pack("16sH14x", name.encode(), 1))  # SIOCSIFFLAGS, IFF_UP

def drops(name):
    out = subprocess.run(["ip", "-s", "link", "show", name], capture_output=True, text=True, check=True).stdout
    return int(out.splitlines()[-1].split()[3])

lost = counted = 0
for i in range(60):
    a, b = f"a{i}", f"b{i}"
    subprocess.run(["ip", "link", "add", a, "type", "veth", "peer", b], check=True)
    send = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    up(a)
    up(b)
    send.bind((a, 0))
    tap.bind((b, 0x88b5))
    tap.settimeout(0.05)
    send.send(b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + bytes(50))
    try:
        tap.recv(100)
    except TimeoutError:
        lost += 1
        counted += drops(a)
print(lost, counted)
PY
)
read -r lost counted <<<"$seen"
echo "of 60 first frames $lost are lost; drops that the interfaces have counted: $counted"
if [ "$lost" -eq 0 ] || [ "$counted" -ne "$lost" ]; then
  echo "CHANGED: some were lost, each was counted"
  exit 1
fi
