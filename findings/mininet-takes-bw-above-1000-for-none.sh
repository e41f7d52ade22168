#!/usr/bin/env bash
# Guess: TCLink with bw=10000 is a link of 10 Gb/s, or an error; bw=0 is one that carries nothing, or an error.
# Seen:  above 1000 (Mb/s) the whole limit is left out: the log says "ignoring" and then "(10000.00Mbit)" all the
#        same, and the link has no queue at all. bw=0 makes HTB without a class: no limit either.
# With:  Mininet 2.3.0 (Debian bookworm), iproute2 6.1.0, Linux 6.18.
set -euo pipefail
debs=(mininet=2.3.0-1)

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

need() { # what a kernel has, and a command that only such a kernel takes
  "${@:2}" 2>/dev/null || { echo "needs a kernel with $1"; exit 77; }
}
need HTB tc qdisc add dev lo root htb
tc qdisc del dev lo root

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PATH="$dir/usr/bin:$PATH" PYTHONPATH="$dir/usr/lib/python3/dist-packages"
/usr/bin/python3 - >"$dir/seen" 2>"$dir/log" <<'PY' || { cat "$dir/log"; exit 1; }
from mininet.link import TCLink
from mininet.net import Mininet

net = Mininet(controller=None, link=TCLink, build=False)
a, b = net.addHost("a"), net.addHost("b")
for bw in 100, 10000, 0:
    link = net.addLink(a, b, bw=bw)
    rates = a.cmd(f"tc class show dev {link.intf1}").split(" rate ")[1:]
    queue = a.cmd(f"tc qdisc show dev {link.intf1}").split()[1]
    print(f"bw={bw}: {queue}, {rates[0].split()[0] if rates else 'no limit'}", end="; ")
net.stop()
PY
grep "outside" "$dir/log" | head -1
same "links" "$(cat "$dir/seen")" "bw=100: htb, 100Mbit; bw=10000: noqueue, no limit; bw=0: htb, no limit; "
