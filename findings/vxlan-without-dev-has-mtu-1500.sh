#!/usr/bin/env bash
# Guess: a VXLAN interface leaves room for its 50 bytes of headers: MTU 1450 over interfaces of 1500, whichever way
#        the far end is given.
# Seen:  only if `dev` names the interface below. With `remote`, or `local` and `remote`, it has MTU 1500, and every
#        full packet travels as two fragments.
# With:  Linux 6.18, iproute2 6.1.0.
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

need() { # what a kernel has, and a command that only such a kernel takes
  "${@:2}" 2>/dev/null || { echo "needs a kernel with $1"; exit 77; }
}
need VXLAN ip link add x9 type vxlan id 9 remote 192.0.2.1 dstport 4789
ip link del x9

ip link add v0 type veth peer v1
ip addr add 10.1.0.1/24 dev v0
ip neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev v0
ip link set v0 up
ip link set v1 up
ip link add x0 type vxlan id 1 remote 10.1.0.2 dstport 4789 dev v0
ip link add x1 type vxlan id 2 remote 10.1.0.2 dstport 4789
ip link add x2 type vxlan id 3 remote 10.1.0.2 dstport 4789 local 10.1.0.1
mtu() { ip link show "$1" | grep -o 'mtu [0-9]*'; }
same "with dev" "$(mtu x0)" "mtu 1450"
same "with remote" "$(mtu x1)" "mtu 1500"
same "with local and remote" "$(mtu x2)" "mtu 1500"

ip addr add 10.5.0.1/24 dev x1
ip neigh add 10.5.0.2 lladdr 02:00:00:00:00:05 dev x1
ip link set x1 up
made() { python3 -c '
rows = [l.split() for l in open("/proc/self/net/snmp") if l.startswith("Ip:")]
print(dict(zip(*rows))["FragCreates"])'; }
before=$(made)
python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    s.sendto(bytes(1472), ("10.5.0.2", 9))
PY
same "fragments of ten packets of 1500 bytes" "$(($(made) - before))" 20
