#!/usr/bin/env bash
# Guess: a datagram with a time to be sent (SO_TXTIME, SCM_TXTIME) waits for it, or the socket, which asks for errors to
#        be reported, is told that nothing on its way keeps times.
# Seen:  without the qdisc etf or fq it leaves at once and no error is reported: setsockopt and sendmsg succeed under
#        HTB as on an interface without a queue. The times of a schedule of packets are lost in silence.
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

ip link add v0 type veth peer v1
ip addr add 10.0.0.1/24 dev v0
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0
ip link set v0 up
ip link set v1 up
sent() { python3 - <<'PY'
import socket, struct, time
SO_TXTIME = SCM_TXTIME = 61
REPORT_ERRORS = 2
far = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
far.bind(("v1", 0x0800))
far.settimeout(5)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", time.CLOCK_MONOTONIC, REPORT_ERRORS))
begin = time.monotonic()
at = struct.pack("Q", int((begin + 2) * 1e9))
s.sendmsg([b"x"], [(socket.SOL_SOCKET, SCM_TXTIME, at)], 0, ("10.0.0.2", 9))
far.recv(100)
took = time.monotonic() - begin
try:
    report = s.recvmsg(100, 100, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
except BlockingIOError:
    report = "no error"
print("within the first second" if took < 1 else f"after {took:.1f} s", report, sep=", ")
PY
}
same "two seconds ahead, no queue" "$(sent)" "within the first second, no error"
tc qdisc add dev v0 root handle 1: htb default 1
tc class add dev v0 parent 1: classid 1:1 htb rate 100mbit
same "two seconds ahead, htb" "$(sent)" "within the first second, no error"
