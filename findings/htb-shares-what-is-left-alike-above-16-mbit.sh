#!/usr/bin/env bash
# Guess: HTB shares what a parent has left in proportion to the rates of the classes that want it: 1 to 4 for classes
#        of 20mbit and 80mbit, as for 2mbit and 8mbit.
# Seen:  it shares by quantum, which is rate / r2q with a cap of 200,000 bytes: in proportion below 16 Mb/s, alike
#        above. The first two end up at 1 to 1.7, the others at 1 to 4. tc warns of a "big" quantum and goes on.
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

ratio() { # Mb/s of the parent: ten times what the larger class gets to what the smaller does
  tc qdisc add dev v0 root handle 1: htb default 10
  tc class add dev v0 parent 1: classid 1:1 htb rate "$1mbit"
  tc class add dev v0 parent 1:1 classid 1:10 htb rate $(($1 / 9))mbit ceil "$1mbit"
  tc class add dev v0 parent 1:1 classid 1:20 htb rate $(($1 * 4 / 9))mbit ceil "$1mbit"
  for c in 10 20; do tc qdisc add dev v0 parent "1:$c" bfifo limit 100000; done
  tc filter add dev v0 parent 1: protocol ip u32 match ip dport 5002 0xffff flowid 1:20
  python3 - "$1" <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
rate = float(sys.argv[1]) * 1e6 / 8 / 1442  # packets a second to each class: as much as the parent has
begin, sent = time.monotonic(), 0
while (now := time.monotonic() - begin) < 3:
    while sent < now * rate:
        for port in (5001, 5002):
            s.sendto(bytes(1400), ("10.0.0.2", port))
        sent += 1
    time.sleep(0.001)
PY
  tc -s class show dev v0 |
    awk '$3 == "1:10" || $3 == "1:20" {c = $3} /Sent/ && c {n[c] = $2; c = ""}
      END {printf "%.0f\n", 10 * n["1:20"] / n["1:10"]}'
  tc qdisc del dev v0 root
}
slow=$(ratio 18)
fast=$(ratio 180)
echo "classes of 2 and 8 Mb/s under 18: 1 to $slow tenths; of 20 and 80 under 180: 1 to $fast tenths"
if [ "$slow" -lt 32 ] || [ "$fast" -gt 25 ]; then
  echo "CHANGED: it was 1 to 40 tenths and less than 1 to 20"
  exit 1
fi
