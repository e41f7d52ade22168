#!/usr/bin/env bash
# Guess: "interface" in the JSON of lldpcli show neighbors is of one type, whether one cable or several have a
#        neighbour.
# Seen:  it is an object with one neighbour, keyed by the interface, and a list of such objects with two: what was
#        written for one port fails at a switch. The format json0 has a list in both cases.
# With:  lldpd 1.0.16 (Debian bookworm).
set -euo pipefail
debs=(lldpd=1.0.16-1+deb12u1 libpci3 libwrap0 libsensors5 libsnmp40 libcap2 libbsd0 libmd0 libevent-2.1-7)

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

# lldpd gives up root to a user of its own, whom only this mount namespace knows.
for f in passwd group; do
  cp /etc/$f /run/$f
  sed -i '/^_lldpd:/d' /run/$f
done
echo '_lldpd:x:999:999::/run:/bin/false' >>/run/passwd
echo '_lldpd:x:999:' >>/run/group
for f in passwd group; do mount --bind /run/$f /etc/$f; done
mkdir -p /run/lldpd

lldpcli() { "$dir/usr/sbin/lldpcli" -u "/run/$1/socket" "${@:2}"; }
for n in sw h1 h2; do
  ip netns add $n
  mkdir /run/$n
done
for i in 1 2; do
  ip link add port$i netns sw type veth peer eth0 netns h$i
  ip -n h$i link set eth0 up
done
ip -n sw link set port1 up
for n in sw h1 h2; do
  ip netns exec $n "$dir/usr/sbin/lldpd" -d -u /run/$n/socket -L "$dir/usr/sbin/lldpcli" >/run/$n/log 2>&1 &
done
for n in h1 h2; do
  until lldpcli $n configure lldp tx-interval 1 >/dev/null 2>&1; do sleep 0.2; done
done

neighbours() { lldpcli sw -f keyvalue show neighbors | grep -c 'port[12]\.via' || true; }
shape() {
  lldpcli sw -f "$1" show neighbors | python3 -c '
import json, sys
lldp = json.load(sys.stdin)["lldp"]
lldp = lldp[0] if isinstance(lldp, list) else lldp
print(type(lldp["interface"]).__name__, len(lldp["interface"]))'
}
until [ "$(neighbours)" = 1 ]; do sleep 0.5; done
same "json, one neighbour" "$(shape json)" "dict 1"
same "json0" "$(shape json0)" "list 1"
ip -n sw link set port2 up
until [ "$(neighbours)" = 2 ]; do sleep 0.5; done
same "json, two neighbours" "$(shape json)" "list 2"
same "json0" "$(shape json0)" "list 2"
