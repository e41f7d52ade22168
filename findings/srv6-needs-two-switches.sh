#!/usr/bin/env bash
# Guess: net.ipv6.conf.all.seg6_enabled=1 lets a router process segment routing headers on all interfaces; or the
#        interface's own seg6_enabled=1 does, on that one.
# Seen:  both are needed, `all` and the interface that the packet comes in by; with one of them it is dropped.
# With:  Linux 6.18 with CONFIG_IPV6_SEG6_LWTUNNEL, iproute2 6.1.0.
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

for n in a b c; do
  ip netns add $n
  ip netns exec $n sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.conf.default.accept_dad=0
  ip -n $n link set lo up
  ip -n $n addr add fd00:$n::1/128 dev lo
done
wire() { # namespace and address, twice
  ip link add "$1$3" netns "$1" type veth peer "$3$1" netns "$3"
  ip -n "$1" addr add "$2/64" dev "$1$3" nodad
  ip -n "$3" addr add "$4/64" dev "$3$1" nodad
  ip -n "$1" link set "$1$3" up
  ip -n "$3" link set "$3$1" up
}
wire a fd00:1::1 b fd00:1::2
wire b fd00:2::2 c fd00:2::3
ip -n a route add fd00:b::/64 via fd00:1::2
ip -n a route add fd00:c::1/128 encap seg6 mode inline segs fd00:b::1 dev ab 2>/dev/null ||
  { echo "needs a kernel with SRv6"; exit 77; }
ip -n b route add fd00:a::/64 via fd00:1::1
ip -n b route add fd00:c::/64 via fd00:2::3
ip -n c route add default via fd00:2::2
ip netns exec c sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.cb.seg6_enabled=1
cat >/run/send <<'PY'
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("fd00:a::1", 0))
for _ in range(10):
    s.sendto(b"x", ("fd00:c::1", 99))
PY
delivered() { ip netns exec c awk '$1 == "Udp6NoPorts" {print $2}' /proc/net/snmp6; }
arrive() { # all, interface: packets of ten
  local before
  ip netns exec b sysctl -qw net.ipv6.conf.all.seg6_enabled="$1" net.ipv6.conf.ba.seg6_enabled="$2"
  before=$(delivered)
  ip netns exec a python3 /run/send
  sleep 0.5
  echo $(($(delivered) - before))
}
for _ in $(seq 20); do # until the routers know each other
  [ "$(arrive 1 1)" -lt 10 ] || break
done
same "of ten packets, both" "$(arrive 1 1)" 10
same "all alone" "$(arrive 1 0)" 0
same "the interface alone" "$(arrive 0 1)" 0
