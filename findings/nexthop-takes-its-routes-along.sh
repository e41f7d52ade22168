#!/usr/bin/env bash
# Guess: a next hop (ip nexthop) that routes use cannot be deleted, as a chain of nftables in use cannot; or a monitor
#        of routes is told of each route that goes with it.
# Seen:  it is deleted, and all routes with it, without a word and with exit 0. A group loses the member and goes on;
#        with its last member the group goes, and its routes. A monitor of routes hears of none of them.
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
ip addr add 10.0.0.1/24 dev near
routes() { ip route show | grep -c '^10\.[1-9]' || true; }
ip nexthop add id 1 via 10.0.0.2 dev near
ip nexthop add id 2 via 10.0.0.3 dev near
ip nexthop add id 10 group 1/2
for i in $(seq 1 5); do ip route add 10.$i.0.0/16 nhid 1; done
for i in $(seq 6 9); do ip route add 10.$i.0.0/16 nhid 10; done
same "routes over the hop and over the group" "$(routes)" 9
ip monitor route >/run/told &
monitor=$!
sleep 1
ip nexthop del id 1
same "exit status" $? 0
same "routes, next hop deleted" "$(routes)" 4
same "group" "$(ip nexthop show id 10 | grep -o 'group [0-9/]*')" "group 2"
ip nexthop del id 2
same "routes, the group's last member deleted" "$(routes)" 0
ip route add 10.10.0.0/16 via 10.0.0.4
ip route del 10.10.0.0/16
for _ in $(seq 100); do ! grep -q '^Deleted 10.10.' /run/told || break; sleep 0.1; done
kill $monitor
same "what a monitor is told of" "$(grep '^Deleted 10' /run/told)" "Deleted 10.10.0.0/16 via 10.0.0.4 dev near "
