#!/usr/bin/env bash
# Guess: a rate of `tc -j` is what tc takes for a number without a unit, bits a second, and all that tc shows can be had
#        as JSON.
# Seen:  it is bytes a second, without a unit: a TBF of 1gbit is 125000000, and set again with that number it has 125
#        Mbit/s. `tc -j class show` prints HTB's classes as text all the same, with exit 0.
# With:  Linux 6.18, iproute2 6.1.0.
set -euo pipefail

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in ip tc python3; do
    command -v $tool >/dev/null || { echo "needs $tool"; exit 77; }
  done
  exec timeout 60 unshare --net bash "$0" inside
fi
echo "Linux $(uname -r), $(tc -V)"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}
need() { # what a kernel has, and a command that only such a kernel takes
  "${@:2}" 2>/dev/null || { echo "needs a kernel with $1"; exit 77; }
}

ip link add v0 type veth peer v1
need TBF tc qdisc add dev v0 root tbf rate 1gbit burst 1mb latency 1ms
text() {
  tc qdisc show dev v0 | grep -o "rate [^ ]*"
}
first=$(text)
rate=$(tc -j qdisc show dev v0 | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["options"]["rate"])')
tc qdisc replace dev v0 root tbf rate "$rate" burst 1mb latency 1ms
same "as text, as JSON, and set to what JSON says" "$first, $rate, $(text)" "rate 1Gbit, 125000000, rate 125Mbit"

need HTB tc qdisc replace dev v0 root handle 1: htb
tc class add dev v0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit
same "an HTB class with -j" "$(tc -j class show dev v0 | grep -o '^class htb .* ceil 10Mbit')" \
  "class htb 1:1 root prio 0 rate 10Mbit ceil 10Mbit"
