#!/usr/bin/env bash
# Guess: a rule at nftables' output hook that sets the tag of local packets (ip dscp set) steers them by `ip rule
#        tos`, whatever the type of its chain.
# Seen:  in a chain of type filter the packet leaves with the new tag by the old path: its route was chosen before. In
#        a chain of type route at the same hook it is chosen again.
# With:  Linux 6.18, nftables 1.0.6 (Debian bookworm), iproute2 6.1.0.
set -euo pipefail
debs=(
  nftables=1.0.6-2+deb12u2 libnftables1=1.0.6-2+deb12u2 libnftnl11=1.2.4-2 libxtables12=1.8.9-2
  libjansson4=2.14-2
)

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in ip tc python3; do
    command -v $tool >/dev/null || { echo "needs $tool"; exit 77; }
  done
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  (
    cd "$dir"
    apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}"
    for deb in *.deb; do dpkg -x "$deb" .; done
  ) || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
  export dir LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu"
  timeout 110 unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside
  exit
fi
mount -t tmpfs none /run
echo "Linux $(uname -r), $(ip -V)"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

nft() { "$dir/usr/sbin/nft" "$@"; }
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for i in 1 2; do
  ip link add v$i type veth peer w$i
  ip addr add 10.$i.0.1/24 dev v$i
  ip neigh add 10.$i.0.2 lladdr 02:00:00:00:00:02 dev v$i
  ip link set v$i up
  ip link set w$i up
done
ip route add 10.9.0.0/24 via 10.1.0.2
ip route add 10.9.0.0/24 via 10.2.0.2 table 100
ip rule add tos 0x10 table 100
until ip link show v1 | grep -q 'state UP' && ip link show v2 | grep -q 'state UP'; do sleep 0.05; done
sleep 0.3 # the first frames of a new cable can be lost

tagged() { # packets of ten that carry the tag, at each path
  nft -f - <<NFT
flush ruleset
table ip tag {
  chain c {
    type $1 hook output priority mangle
    udp dport 99 ip dscp set 4
  }
}
table netdev count {
  chain one {
    type filter hook ingress device w1 priority 0
    ip dscp 4 counter
  }
  chain two {
    type filter hook ingress device w2 priority 0
    ip dscp 4 counter
  }
}
NFT
  python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    s.sendto(b"x", ("10.9.0.9", 99))
PY
  nft list table netdev count | grep -o 'packets [0-9]*' | grep -o '[0-9]*' | paste -sd' '
}
same "by the default path and the tag's, type filter" "$(tagged filter)" "10 0"
same "type route" "$(tagged route)" "0 10"
