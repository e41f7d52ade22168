#!/usr/bin/env bash
# Guess: two emulated routers, each in a namespace of its own, spread flows independently: of the flows that the first
#        sends over one of its two paths the second sends half each way.
# Seen:  all namespaces of a machine hash alike. Whatever took the first router's path n takes the second's path n:
#        half of the second tier's links never carry anything. net.ipv4.fib_multipath_hash_seed (Linux 6.11) mends it.
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
need 'a seed for ECMP (6.11)' test -e /proc/sys/net/ipv4/fib_multipath_hash_seed

for r in r1 r2; do
  ip netns add $r
  ip netns exec $r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1
  for i in 0 1 2; do
    ip -n $r link add v$i type veth peer w$i
    ip -n $r addr add 10.2.$i.1/24 dev v$i
    ip -n $r link set v$i up
    ip -n $r link set w$i up
  done
  ip -n $r route add 10.9.0.0/24 nexthop via 10.2.0.2 nexthop via 10.2.1.2
done

ways() { # router: the path of each of 64 flows that come in at v2
  for port in $(seq 20000 20063); do
    echo "route get 10.9.0.9 from 10.2.2.9 iif v2 ipproto udp sport $port dport 9"
  done | ip -n "$1" -batch - | grep -o 'dev v[01]'
}
pairs() { paste -d' ' <(ways r1) <(ways r2) | sort | uniq -c; }
pairs
same "combinations of two paths that are used" "$(pairs | wc -l)" 2
ip netns exec r2 sysctl -qw net.ipv4.fib_multipath_hash_seed=12345
pairs
same "with a seed for one of them" "$(pairs | wc -l)" 4
