#!/usr/bin/env bash
# Guess: a u32 filter that links to another table and has an action of its own runs the action on what it matches, or
#        never.
# Seen:  the action runs only where the linked table has matched nothing. So emptying that table turns all filters
#        that link to it over to their own actions at once.
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
need clsact tc qdisc add dev lo clsact
need "u32 and mirred" tc filter add dev lo egress protocol ip u32 match u32 0 0 action mirred egress redirect dev lo
tc qdisc del dev lo clsact

for i in v a b; do
  ip link add "${i}0" type veth peer "${i}1"
  ip link set "${i}0" up
  ip link set "${i}1" up
done
ip addr add 10.0.0.1/24 dev v0
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0

filter() { tc filter "$1" dev v0 egress pref 1 protocol ip "${@:2}"; }
tc qdisc add dev v0 clsact
filter add handle 10: u32 divisor 1
filter add u32 ht 10: match u32 0 0 action mirred egress redirect dev a0
filter add u32 match u32 0 0 link 10: action mirred egress redirect dev b0

probe() { # packets of ten, by device
  python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    s.sendto(b"x", ("10.0.0.2", 99))
PY
  tc -s filter show dev v0 egress | awk '/Redirect/ {to = $(NF - 1)} /Sent/ {print to, $4}' | tr -d ')' | paste -sd,
}
same "table matches" "$(probe)" "a0 10,b0 0"
filter del handle 10:0:800 u32
same "table is empty" "$(probe)" "b0 10"
