#!/usr/bin/env bash
# Guess: a queue of linux-htb with max-rate=40000000000 has a ceil of 40 Gbit/s in tc, or there is an error.
# Seen:  it has one of 5,640 Mbit/s: bytes a second are kept in 32 bits, and what is above is cut off. So a queue of 40
#        Gbit/s is slower than one of 25, and a port's max-rate of 100 Gbit/s is 31.28. The database shows what was
#        asked for, and nothing is logged.
# With:  Open vSwitch 3.1.0 (Debian bookworm), Linux 6.18.
set -euo pipefail
debs=(
  openvswitch-common=3.1.0-2+deb12u1 openvswitch-switch=3.1.0-2+deb12u1 libunbound8 libxdp1 libbpf1 libevent-2.1-7
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

export OVS_RUNDIR=/run OVS_LOGDIR=/run PATH="$dir/usr/bin:$dir/usr/sbin:$dir/usr/lib/openvswitch-switch:$PATH"
cd /run
ip link set lo up
ip link add tor1 type veth peer name tor2
ip link set tor1 up
ip link set tor2 up
ovsdb-tool create conf.db "$dir/usr/share/openvswitch/vswitch.ovsschema"
ovsdb-server --detach --pidfile --remote=punix:/run/db.sock --log-file conf.db 2>/dev/null
ovs-vsctl --no-wait init
ovs-vswitchd --detach --pidfile --log-file unix:/run/db.sock 2>/dev/null
ovs-vsctl add-br br0 -- set bridge br0 datapath_type=netdev -- add-port br0 tor1 \
  -- set port tor1 qos=@q -- --id=@q create qos type=linux-htb other-config:max-rate=100000000000 \
  queues:0=@q0 queues:1=@q1 \
  -- --id=@q0 create queue other-config:max-rate=25000000000 \
  -- --id=@q1 create queue other-config:max-rate=40000000000 >/dev/null
until tc class show dev tor1 | grep -q 'htb 1:2 '; do sleep 0.2; done
ceil() { tc class show dev tor1 | sed -n "s/^class htb $1 .* ceil \([^ ]*\) .*/\1/p"; }
same "asked for" "$(ovs-vsctl --bare --columns=other_config list qos) $(
  ovs-vsctl --bare --columns=other_config list queue | grep . | sort | paste -sd' ')" \
  "max-rate=100000000000 max-rate=25000000000 max-rate=40000000000"
same "a port of 100 Gbit/s, queues of 25 and 40" "$(ceil 1:fffe) $(ceil 1:1) $(ceil 1:2)" "31280Mbit 25Gbit 5640Mbit"
same "warnings" "$(grep -c 'WARN\|ERR' ovs-vswitchd.log || true)" 0
