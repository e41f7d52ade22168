#!/usr/bin/env bash
# Guess: `ip route append` of a second next hop for a prefix does the same in IPv4 and IPv6.
# Seen:  IPv6 makes one route with two next hops and spreads flows over them. IPv4 makes a second route of the same
#        prefix that no packet ever takes. And IPv6's `replace` then takes both next hops away for the one given.
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

ip link add v0 type veth peer v1
ip addr add 10.1.0.1/24 dev v0
ip addr add fd00:1::1/64 dev v0 nodad
ip link set v0 up
ip link set v1 up
for end in 2 3; do
  ip route append 10.9.0.0/16 via 10.1.0.$end
  ip route append fd00:9::/32 via fd00:1::$end
done

ways() { # prefix of 64 destinations: which next hops are used
  for i in $(seq 64); do
    ip route get "$1$i" | grep -o 'via [^ ]*'
  done | sort -u | paste -sd,
}
same "IPv4 uses" "$(ways 10.9.0.)" "via 10.1.0.2"
same "IPv6 uses" "$(ways fd00:9::)" "via fd00:1::2,via fd00:1::3"
same "IPv4 routes" "$(ip route show 10.9.0.0/16 | wc -l)" 2
ip route replace fd00:9::/32 via fd00:1::4
same "IPv6 uses after replace" "$(ways fd00:9::)" "via fd00:1::4"
