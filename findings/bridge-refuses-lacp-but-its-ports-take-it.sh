#!/usr/bin/env bash
# Guess: whether a Linux bridge forwards LACP (01:80:c2:00:00:02) is one rule, the same for group_fwd_mask of the
#        bridge and of its ports: both refuse bit 2, as bits 0 to 2 are said to be restricted.
# Seen:  the bridge refuses it (and takes bit 14, LLDP); its ports take it, and LACP crosses the bridge then. So bonds
#        can be emulated across a bridge after all.
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
need bridges ip link add br9 type bridge
ip link del br9

ip link add br0 type bridge mcast_snooping 0
for i in a b; do
  ip link add "${i}0" type veth peer "${i}1"
  ip link set "${i}1" master br0
  ip link set "${i}0" up
  ip link set "${i}1" up
done
ip link set br0 up

takes() { if ip link set "$@" 2>/dev/null; then echo taken; else echo refused; fi; }
same "bridge, bit 14" "$(takes br0 type bridge group_fwd_mask 0x4000)" taken
same "bridge, bit 2" "$(takes br0 type bridge group_fwd_mask 0x4004)" refused

crosses() {
  python3 - <<'PY'
import socket, time
tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
tap.bind(("b0", 0x8809))
tap.settimeout(0.1)
send = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
send.bind(("a0", 0))
frame = bytes.fromhex("0180c2000002" "020000000001" "8809" "01") + bytes(100)
got = 0
for _ in range(10):
    send.send(frame)
    try:
        got += len(tap.recv(2000)) == len(frame)
    except TimeoutError:
        pass
print(got)
PY
}
until bridge link | grep -q 'a1.*forwarding' && bridge link | grep -q 'b1.*forwarding'; do sleep 0.1; done
same "LACP frames of ten that cross" "$(crosses)" 0
same "port, bit 2" "$(takes a1 type bridge_slave group_fwd_mask 0x4)" taken
same "LACP frames of ten that cross" "$(crosses)" 10
