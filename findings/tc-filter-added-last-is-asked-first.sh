#!/usr/bin/env bash
# Guess: filters that are added without a preference are asked in the order in which they were added.
# Seen:  the first one gets preference 49152, the next one 49151: the last one added is asked first, and takes all.
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

tc qdisc add dev v0 clsact
tc filter add dev v0 egress protocol ip u32 match ip dport 99 0xffff action mirred egress redirect dev a0
tc filter add dev v0 egress protocol ip u32 match u32 0 0 action mirred egress redirect dev b0
python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    s.sendto(b"x", ("10.0.0.2", 99))
PY

seen=$(tc -s filter show dev v0 egress |
  awk '/fh 80/ && /order/ {pref = $5} /Redirect/ {to = $(NF - 1)} /Sent/ {print pref, to, $4}' | tr -d ')' | paste -sd,)
same "preference, device, packets" "$seen" "49151 b0 10,49152 a0 0"
