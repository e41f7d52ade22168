#!/usr/bin/env bash
# Guess: a veth is a cable: what the kernel knows of a packet beside its bytes (mark, priority) stays behind, always.
# Seen:  the mark crosses to an end in the same namespace, and is taken away only between namespaces; the priority is
#        taken away in both. So switches that share a namespace see each other's marks.
# With:  Linux 6.18, nftables 1.0.6 (Debian bookworm).
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
ip netns add far
ip link add a0 type veth peer a1
ip link add b0 type veth peer b1 netns far
ip addr add 10.0.1.1/24 dev a0
ip addr add 10.0.2.1/24 dev b0
ip link set a0 up
ip link set a1 up
ip link set b0 up
ip -n far link set b1 up
ip neigh add 10.0.1.2 lladdr 02:00:00:00:00:02 dev a0
ip neigh add 10.0.2.2 lladdr 02:00:00:00:00:02 dev b0

count() { # at an interface: all, marked, with priority
  cat <<NFT
table netdev t {
  chain c {
    type filter hook ingress device "$1" priority 0
    udp dport 99 counter
    udp dport 99 meta mark 42 counter
    udp dport 99 meta priority 0:5 counter
  }
}
NFT
}
count a1 | nft -f -
count b1 | ip netns exec far "$dir/usr/sbin/nft" -f -
until ip link show a0 | grep -q 'state UP' && ip link show b0 | grep -q 'state UP'; do sleep 0.05; done
sleep 0.2 # the first frames of a new cable can be lost
python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 42)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 5)
for _ in range(10):
    s.sendto(b"x", ("10.0.1.2", 99))
    s.sendto(b"x", ("10.0.2.2", 99))
PY
packets() { grep -o 'packets [0-9]*' | grep -o '[0-9]*' | paste -sd' '; }
same "all, marked, with priority in one namespace" "$(nft list ruleset | packets)" "10 10 0"
same "and between two" "$(ip netns exec far "$dir/usr/sbin/nft" list ruleset | packets)" "10 0 0"
