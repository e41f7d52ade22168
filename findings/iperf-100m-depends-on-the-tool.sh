#!/usr/bin/env bash
# Guess: -b 100M has iperf and iperf3 send at the same rate.
# Seen:  100M is 104,857,600 bit/s in iperf 2, and 100,000,000 in iperf3. iperf 2 takes 100m for the latter, as its
#        manual says in a note on all numbers. Of bytes (-n 1M) both make 1,048,576.
# With:  iperf 2.1.8, iperf3 3.12 (Debian bookworm).
set -euo pipefail
debs=(iperf=2.1.8+dfsg-1 iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1)

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in ip python3; do
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

ip link set lo up
"$dir/usr/bin/iperf" -s -u >/dev/null &
"$dir/usr/bin/iperf" -s >/dev/null &
"$dir/usr/bin/iperf3" -s >/dev/null &
until "$dir/usr/bin/iperf3" -c 127.0.0.1 -n 1 >/dev/null; do sleep 0.2; done 2>/dev/null
two() { # bytes or bits of iperf 2, the column, and arguments
  "$dir/usr/bin/iperf" -c 127.0.0.1 -y C "${@:2}" | head -n 1 | cut -d, -f "$1"
}
three() { # what of iperf3, and arguments
  "$dir/usr/bin/iperf3" -c 127.0.0.1 -J "${@:2}" |
    python3 -c 'import json, sys; print(round(json.load(sys.stdin)["end"][sys.argv[1]][sys.argv[2]]))' ${1/./ }
}
megabits() { echo $((($1 + 500000) / 1000000)); }
same "iperf 2, -b 100M, in Mbit/s" "$(megabits "$(two 9 -u -b 100M -t 3)")" 105
same "iperf 2, -b 100m" "$(megabits "$(two 9 -u -b 100m -t 3)")" 100
same "iperf3, -b 100M" "$(megabits "$(three sum.bits_per_second -u -b 100M -t 3)")" 100
same "iperf 2, -n 1M, in bytes" "$(two 8 -n 1M)" 1048576
same "iperf3, -n 1M" "$(three sum_sent.bytes -n 1M)" 1048576
