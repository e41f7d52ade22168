#!/usr/bin/env bash
# Guess: a filter with `action mirred egress redirect dev B index 7` redirects to B, or is refused where action 7
#        exists and leads to A.
# Seen:  the filter is taken without a word and bound to action 7 as it is: packets go to A.
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

tc actions add action mirred egress redirect dev a0 index 7
tc qdisc add dev v0 clsact
tc filter add dev v0 egress pref 1 protocol ip u32 match ip dport 99 0xffff action mirred egress redirect dev b0 index 7

sent() {
  ip -s -j link show "$1" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["tx"]["packets"])'
}
a=$(sent a0) b=$(sent b0)
python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(100):
    s.sendto(b"x", ("10.0.0.2", 99))
PY
a=$(($(sent a0) - a)) b=$(($(sent b0) - b))

tc filter show dev v0 egress | grep 'Redirect'
echo "asked for b0: $a packets left by a0, $b by b0"
if [ "$a" -lt 100 ] || [ "$b" -gt 50 ]; then
  echo "CHANGED: all 100 left by a0"
  exit 1
fi
