#!/usr/bin/env bash
# Guess: iperf3 -J exits with what iperf3 exits with without it: 1 if the test fails.
# Seen:  with -J it exits 0, whether no server listens or it runs another test, and writes the failure as "error"
#        into an object whose "end" is empty. A script that looks at the exit status, or takes missing sums for 0,
#        measures nothing. Without -J it exits 1.
# With:  iperf3 3.12 (Debian bookworm).
set -euo pipefail
debs=(iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1)

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

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

ip link set lo up
cd "$dir"
iperf() { "$dir/usr/bin/iperf3" "$@"; }
both() { # exit statuses without and with -J, and what the object says
  local status=0 status_json=0
  iperf -c 127.0.0.1 -t 1 "$@" >/dev/null 2>&1 || status=$?
  iperf -J -c 127.0.0.1 -t 1 "$@" >out || status_json=$?
  echo "$status, with -J $status_json," "$(python3 -c '
import json
o = json.load(open("out"))
print(o.get("error", "no error") + ",", "sums" if "sum_sent" in o["end"] else "no sums")')"
}
same "no server listens" "$(both)" "1, with -J 0, unable to connect to server: Connection refused, no sums"
iperf -s -B 127.0.0.1 >/dev/null &
until iperf -c 127.0.0.1 -n 1 >/dev/null; do sleep 0.2; done 2>/dev/null
same "server is free" "$(both)" "0, with -J 0, no error, sums"
iperf -c 127.0.0.1 -b 1M -t 20 >/dev/null &
sleep 2
same "server is busy" "$(both)" \
  "1, with -J 0, the server is busy running a test. try again later, no sums"
