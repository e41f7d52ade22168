#!/usr/bin/env bash
# Guess: an HTB class with ceil 10mbit bounds all that leaves through the classes below it.
# Seen:  ceil bounds borrowing only. Two children with rate 10mbit each send 20 Mb/s through a parent of rate and ceil
#        10mbit; with rates of 5mbit and ceil 10mbit each, the same packets leave at 10 Mb/s.
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

mbits() { # rate of the children: Mb/s that leave in two seconds of 50 Mb/s offered to each
  tc qdisc add dev v0 root handle 1: htb default 10
  tc class add dev v0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit
  for c in 10 20; do
    tc class add dev v0 parent 1:1 classid "1:$c" htb rate "$1" ceil 10mbit
    tc qdisc add dev v0 parent "1:$c" bfifo limit 30000
  done
  tc filter add dev v0 parent 1: protocol ip u32 match ip dport 5002 0xffff flowid 1:20
  python3 - <<'PY'
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + 2
while time.monotonic() < end:
    for _ in range(10):
        for port in (5001, 5002):
            s.sendto(bytes(1400), ("10.0.0.2", port))
    time.sleep(0.002)
PY
  tc -s class show dev v0 classid 1:1 | awk '/Sent/ {printf "%.0f\n", $2 * 8 / 2 / 1e6}'
  tc qdisc del dev v0 root
}

over=$(mbits 10mbit)
within=$(mbits 5mbit)
echo "children of rate 10mbit send $over Mb/s through a parent of 10mbit"
echo "children of rate 5mbit send $within Mb/s"
if [ "$over" -lt 17 ] || [ "$within" -gt 12 ]; then
  echo "CHANGED: it was 20 and 10"
  exit 1
fi
