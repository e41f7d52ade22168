#!/usr/bin/env bash
# Guess: HTB's filters decide which class a packet takes; a socket's SO_PRIORITY is a number that a filter may look
#        at.
# Seen:  a priority that reads as a class (0x00010020 is 1:20) chooses that class before any filter is asked, also one
#        whose filter matches everything. A small number, such as 6, chooses nothing.
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
need HTB tc qdisc add dev lo root htb
tc qdisc del dev lo root

ip link add v0 type veth peer v1
ip addr add 10.0.0.1/24 dev v0
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0
ip link set v0 up
ip link set v1 up
tc qdisc add dev v0 root handle 1: htb default 10 r2q 1000
for c in 10 20; do tc class add dev v0 parent 1: classid 1:$c htb rate 100mbit; done
tc filter add dev v0 parent 1: protocol ip u32 match u32 0 0 flowid 1:10

in_class_20() { # of ten more packets of that priority
  local before
  before=$(tc -s class show dev v0 classid 1:20 | awk '/Sent/ {print $4}')
  python3 - "$1" <<'PY'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, int(sys.argv[1], 16))
for _ in range(10):
    s.sendto(b"x", ("10.0.0.2", 99))
PY
  echo $(($(tc -s class show dev v0 classid 1:20 | awk '/Sent/ {print $4}') - before))
}
same "of ten packets in class 1:20, priority 6" "$(in_class_20 6)" 0
same "priority 0x10020" "$(in_class_20 10020)" 10
