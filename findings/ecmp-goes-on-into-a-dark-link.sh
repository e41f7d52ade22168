#!/usr/bin/env bash
# Guess: a multipath route stops using a next hop whose interface has lost its carrier.
# Seen:  it goes on: half of the flows are lost for as long as the link is dark, though `ip route` marks the next hop
#        "linkdown". net.ipv4.conf.*.ignore_routes_with_linkdown=1 (0 by default) moves them, but not for a link that
#        is dark already: the share of each next hop is worked out anew only when a link changes.
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

sysctl -qw net.ipv4.fib_multipath_hash_policy=1
for i in 1 2; do
  ip link add v$i type veth peer w$i
  ip addr add 10.$i.0.1/24 dev v$i
  ip neigh add 10.$i.0.2 lladdr 02:00:00:00:00:0$i dev v$i
  ip link set v$i up
  ip link set w$i up
done
ip addr add 10.7.0.1/32 dev lo
ip route add 10.9.0.0/24 src 10.7.0.1 nexthop via 10.1.0.2 nexthop via 10.2.0.2

sent() {
  ip -s -j link show v1 |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["tx"]["packets"])'
}
alive() { # packets of 640, in 64 flows, that leave by the link that is lit
  before=$(sent)
  python3 - <<'PY'
import socket
for port in range(20000, 20064):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("10.7.0.1", port))
    for _ in range(10):
        s.sendto(b"x", ("10.9.0.9", 9))
PY
  echo $(($(sent) - before))
}
darken() {
  ip link set w2 down
  until ip link show v2 | grep -q NO-CARRIER; do sleep 0.05; done
}
darken
ip route show 10.9.0.0/24
dark=$(alive)
sysctl -qw net.ipv4.conf.all.ignore_routes_with_linkdown=1 net.ipv4.conf.v2.ignore_routes_with_linkdown=1
told=$(alive)
ip link set w2 up
until ip link show v2 | grep -q 'state UP'; do sleep 0.05; done
darken
again=$(alive)
echo "of 640 packets $dark leave while a link is dark, $told once it shall be ignored, $again when it is dark again"
if [ "$dark" -gt 500 ] || [ "$told" -gt 500 ] || [ "$again" -lt 640 ]; then
  echo "CHANGED: half, half and all of them left"
  exit 1
fi
