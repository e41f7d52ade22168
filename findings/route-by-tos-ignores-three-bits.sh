#!/usr/bin/env bash
# Guess: `ip route add PREFIX tos 0x18` takes packets of that TOS, and `tos 0xb8` those of DSCP 46.
# Seen:  packets are compared by bits 0x1c only. The route for 0x18 takes 0x38, 0xb8 and 0xf8 too; the route for 0xb8
#        is accepted and shown, and no packet ever takes it. `ip rule add tos 0xb8` is refused, so rules at least say
#        so.
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

for i in 1 2; do
  ip link add v$i type veth peer w$i
  ip addr add 10.$i.0.1/24 dev v$i
  ip neigh add 10.$i.0.2 lladdr 02:00:00:00:00:0$i dev v$i
  ip link set v$i up
  ip link set w$i up
done
ip route add 10.8.0.0/16 via 10.2.0.2

sent() {
  ip -s -j link show "$1" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["tx"]["packets"])'
}
special() { # TOS values of which packets leave by v1
  for tos in 0x10 0x18 0x38 0xb8 0xf8; do
    before=$(sent v1)
    python3 - $tos <<'PY'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(sys.argv[1], 16))
for _ in range(50):
    s.sendto(b"x", ("10.8.0.1", 9))
PY
    if [ $(($(sent v1) - before)) -ge 50 ]; then echo $tos; fi
  done | paste -sd' '
}
ip route add 10.8.0.0/16 tos 0x18 via 10.1.0.2
same "the route for 0x18 takes" "$(special)" "0x18 0x38 0xb8 0xf8"
ip route del 10.8.0.0/16 tos 0x18
ip route add 10.8.0.0/16 tos 0xb8 via 10.1.0.2
ip route show 10.8.0.0/16
same "the route for 0xb8 takes" "$(special)" ""
same "a rule for 0xb8" "$(ip rule add tos 0xb8 table 100 2>&1 || true)" "Error: Invalid tos."
