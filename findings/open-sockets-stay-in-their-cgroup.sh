#!/usr/bin/env bash
# Guess: a rule for a cgroup applies to all traffic of the processes in it: a process that is moved there takes its
#        open sockets along.
# Seen:  a socket belongs for life to the cgroup that its process was in when it was opened. After the move only new
#        sockets match the new cgroup, and the old ones go on matching the old.
# With:  Linux 6.18 (cgroup v2), nftables 1.0.6 (Debian bookworm).
set -euo pipefail
debs=(
  nftables=1.0.6-2+deb12u2 libnftables1=1.0.6-2+deb12u2 libnftnl11 libxtables12 libjansson4 libgmp10 libmnl0
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
mount -t cgroup2 none /sys/fs/cgroup
old=finding-old-$RANDOM new=finding-new-$RANDOM
mkdir "/sys/fs/cgroup/$old" "/sys/fs/cgroup/$new"
trap 'rmdir "/sys/fs/cgroup/$old" "/sys/fs/cgroup/$new"' EXIT
ip link set lo up
nft -f - <<NFT || { echo "needs a kernel with nft_socket"; exit 77; }
table inet t {
  chain c {
    type filter hook output priority 0
    udp dport 99 socket cgroupv2 level 1 "$old" counter
    udp dport 99 socket cgroupv2 level 1 "$new" counter
  }
}
NFT
python3 - "$old" "$new" <<'PY'
import os, socket, sys

def move(group):
    with open(f"/sys/fs/cgroup/{group}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))

move(sys.argv[1])
early = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
move(sys.argv[2])
late = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for s, n in (early, 10), (late, 3):
    for _ in range(n):
        s.sendto(b"x", ("127.0.0.1", 99))
PY
same "packets of ten by the early socket and three by the late one: old cgroup, new cgroup" \
  "$(nft list ruleset | grep -o 'packets [0-9]*' | paste -sd,)" "packets 10,packets 3"
