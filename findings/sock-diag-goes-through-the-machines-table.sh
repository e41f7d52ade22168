#!/usr/bin/env bash
# Guess: listing the TCP connections of a namespace that has none, by sock_diag as ss does, takes a time that goes with
#        the namespace's connections, so hundreds of idle namespaces can be read several times a second.
# Seen:  all namespaces share one table, whose size goes with the machine's memory, and each listing goes through it:
#        2^18 buckets take ten times as long as 2^12, with no connection in either. A namespace that is made while
#        net.ipv4.tcp_child_ehash_entries is set in its parent has a small table of its own, but then its bounds for
#        listeners and TIME_WAIT shrink, too: tcp_max_syn_backlog from 2048 to 128, tcp_max_tw_buckets to 2048.
# With:  Linux 6.18, on a machine whose table has at least 2^16 buckets.
set -euo pipefail

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in unshare python3; do
    command -v $tool >/dev/null || { echo "needs $tool"; exit 77; }
  done
  [ -e /proc/sys/net/ipv4/tcp_child_ehash_entries ] || { echo "needs Linux 6.1 or later"; exit 77; }
  shared=$(cat /proc/sys/net/ipv4/tcp_ehash_entries)
  [ "${shared#-}" -ge 65536 ] || { echo "needs a table of 65536 buckets, and this machine's has $shared"; exit 77; }
  exec timeout 110 unshare --net --mount --fork --kill-child bash "$0" inside
fi
echo "Linux $(uname -r)"

list() { # the least time of 200 listings of established connections, in microseconds
  python3 - <<'PY'
import socket, struct, time

s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)  # NETLINK_INET_DIAG
established = 1 << 1
ask = struct.pack("=IHHII", 72, 20, 0x301, 1, 0) + struct.pack("=BBBBI", socket.AF_INET, 6, 0, 0, established) + bytes(48)
least = 1.0
for _ in range(200):
    begun = time.perf_counter()
    s.send(ask)
    while struct.unpack_from("=H", s.recv(65536), 4)[0] != 3:  # NLMSG_DONE
        raise SystemExit("a namespace without connections has one")
    least = min(least, time.perf_counter() - begun)
print(round(least * 1e6))
PY
}
bounds() { cat /proc/sys/net/ipv4/tcp_ehash_entries /proc/sys/net/ipv4/tcp_max_syn_backlog \
  /proc/sys/net/ipv4/tcp_max_tw_buckets | xargs; }
export -f list bounds

large=$(unshare --net bash -c list)
echo 4096 >/proc/sys/net/ipv4/tcp_child_ehash_entries
small=$(unshare --net bash -c list)
seen=$(unshare --net bash -c bounds)
echo "a listing of nothing: $large us by the machine's table of $(cat /proc/sys/net/ipv4/tcp_ehash_entries), $small us by one of 4096"
echo "a namespace with a table of its own has $seen"
[ "$seen" = "4096 128 2048" ] || { echo "CHANGED: the bounds were 4096 128 2048"; exit 1; }
[ "$large" -ge $((3 * small)) ] || { echo "CHANGED: the large table took over three times as long"; exit 1; }
