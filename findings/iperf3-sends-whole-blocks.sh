#!/usr/bin/env bash
# Guess: iperf3 -n 1000 sends 1,000 bytes, and -n 1000000 one megabyte, so flows of a trace can be replayed by it.
# Seen:  it sends whole blocks of 128 KiB: 131,072 bytes for any -n up to that, 1,048,576 for 1000000. With -l 1000
#        both are exact.
# With:  iperf3 3.12 (Debian bookworm).
set -euo pipefail
debs=(iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1)

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

ip link set lo up
iperf() { "$dir/usr/bin/iperf3" "$@"; }
iperf -s -B 127.0.0.1 >/dev/null &
until iperf -c 127.0.0.1 -n 1 >/dev/null; do sleep 0.2; done 2>/dev/null
sent() {
  iperf -c 127.0.0.1 -J "$@" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["end"]["sum_sent"]["bytes"])'
}
same "-n 1000" "$(sent -n 1000)" 131072
same "-n 1000000" "$(sent -n 1000000)" 1048576
same "-n 1000 -l 1000" "$(sent -n 1000 -l 1000)" 1000
same "-n 1000000 -l 1000" "$(sent -n 1000000 -l 1000)" 1000000
