#!/usr/bin/env bash
# Guess: a UDP sender learns that its own host's queue is full (it blocks, or gets ENOBUFS), a packet socket does not.
# Seen:  the other way round. sendto of UDP returns success for every datagram that the host's own qdisc drops, unless
#        IP_RECVERR is set; a packet socket gets ENOBUFS for each.
# With:  Linux 6.18, iproute2 6.1.0.
set -euo pipefail

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in ip tc python3; do
    command -v $tool >/dev/null || { echo "needs $tool"; exit 77; }
  done
  exec timeout 110 unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside
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

ip link add v0 type veth peer v1
ip addr add 10.0.0.1/24 dev v0
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0
ip link set v0 up
ip link set v1 up
tc qdisc add dev v0 root handle 1: htb default 1
tc class add dev v0 parent 1: classid 1:1 htb rate 8kbit
tc qdisc add dev v0 parent 1:1 bfifo limit 3000

seen=$(python3 - <<'PY'
import errno, socket

def refused(send):
    n = 0
    for _ in range(50):
        try:
            send()
        except OSError as e:
            if e.errno != errno.ENOBUFS:
                raise
            n += 1
    return n

to, payload = ("10.0.0.2", 9), bytes(1000)
for _ in range(5):  # fills the queue
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(payload, to)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
told = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
told.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
raw.bind(("v0", 0))
frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + payload
print("UDP", refused(lambda: udp.sendto(payload, to)), "with IP_RECVERR", refused(lambda: told.sendto(payload, to)),
      "packet socket", refused(lambda: raw.send(frame)))
PY
)
tc -s qdisc show dev v0 parent 1:1 | grep dropped
same "sends of 50 that were refused" "$seen" "UDP 0 with IP_RECVERR 50 packet socket 50"
