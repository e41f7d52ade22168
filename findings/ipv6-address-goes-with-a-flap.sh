#!/usr/bin/env bash
# Guess: a link that is set down and up again has the addresses that it had.
# Seen:  it has its IPv4 address, and has lost its global IPv6 address with the routes over it, without a word: a fault
#        of a second in an emulation lasts for ever in IPv6. With keep_addr_on_down the address stays.
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

ip link add near type veth peer name far
ip link set near up
ip link set far up
addresses() { ip -j addr show near | python3 -c '
import json, sys
print(*[a["local"] for a in json.load(sys.stdin)[0]["addr_info"] if a["scope"] == "global"])'; }
flap() { # keep_addr_on_down
  sysctl -qw net.ipv6.conf.near.keep_addr_on_down="$1"
  ip addr flush dev near
  ip link set near up
  ip addr add 10.0.0.1/24 dev near
  ip addr add 2001:db8::1/64 dev near nodad
  ip route add 10.1.0.0/16 via 10.0.0.2
  ip route add 2001:db8:1::/48 via 2001:db8::2
  same "before" "$(addresses)" "10.0.0.1 2001:db8::1"
  ip link set near down
  ip link set near up
}
flap 0
same "after down and up" "$(addresses)" "10.0.0.1"
same "where IPv4 packets go" "$(ip route get 10.0.0.2 | grep -o 'dev near')" "dev near"
same "and IPv6 packets" "$(ip route get 2001:db8::2 2>&1 | grep -o unreachable | head -1)" "unreachable"
flap 1
same "after down and up with keep_addr_on_down" "$(addresses)" "10.0.0.1 2001:db8::1"
