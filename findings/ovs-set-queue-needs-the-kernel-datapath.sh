#!/usr/bin/env bash
# Guess: set_queue of a flow puts packets into that queue of the port's QoS, whichever datapath the bridge has.
# Seen:  with datapath_type=netdev, which needs no kernel module (Mininet's datapath='user'), the queues are made, with
#        an HTB class each, the flow is taken and shown, and all packets go through queue 0. Nothing is logged.
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
sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip link set lo up
for i in 1 2; do
  ip netns add host$i
  ip link add tor$i up type veth peer eth0 netns host$i
  ip -n host$i addr add 10.0.0.$i/24 dev eth0
  ip -n host$i link set eth0 up
done
ip -n host1 neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0
ovsdb-tool create conf.db "$dir/usr/share/openvswitch/vswitch.ovsschema"
ovsdb-server --detach --pidfile --remote=punix:/run/db.sock --log-file conf.db 2>/dev/null
ovs-vsctl --no-wait init
ovs-vswitchd --detach --pidfile --log-file unix:/run/db.sock 2>/dev/null
ovs-vsctl add-br br0 -- set bridge br0 datapath_type=netdev fail_mode=secure \
  -- add-port br0 tor1 -- set interface tor1 ofport_request=1 \
  -- add-port br0 tor2 -- set interface tor2 ofport_request=2 \
  -- set port tor2 qos=@q -- --id=@q create qos type=linux-htb other-config:max-rate=1000000000 \
  queues:0=@q0 queues:1=@q1 \
  -- --id=@q0 create queue other-config:max-rate=1000000000 \
  -- --id=@q1 create queue other-config:max-rate=5000000 >/dev/null
until tc class show dev tor2 | grep -q 'htb 1:2 .*ceil 5Mbit'; do sleep 0.2; done
ovs-ofctl add-flow br0 udp,in_port=1,actions=set_queue:1,output:2

ip netns exec host1 python3 - <<'PY'
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(100):
    s.sendto(bytes(1000), ("10.0.0.2", 9))
    time.sleep(0.005)
PY
sleep 1
same "flow" "$(ovs-ofctl dump-flows br0 | grep -o 'n_packets=[0-9]*\|actions=.*' | paste -sd' ')" \
  "n_packets=100 actions=set_queue:1,output:2"
same "packets in queue 0 and in queue 1" "$(ovs-ofctl queue-stats br0 2 | grep -o 'pkts=[0-9]*' | paste -sd' ')" \
  "pkts=100 pkts=0"
same "warnings" "$(grep -c 'WARN\|ERR' ovs-vswitchd.log || true)" 0
