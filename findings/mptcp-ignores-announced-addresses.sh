#!/usr/bin/env bash
# Guess: an MPTCP server that announces its second address (an endpoint with `signal`) gets a second subflow from
#        clients that can reach it: two subflows are allowed by default on both sides.
# Seen:  the announcement is ignored: add_addr_accepted is 0 by default, and the client counts nothing as accepted.
#        With `ip mptcp limits set add_addr_accepted 1` at the client there are two subflows.
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

grep -qs 1 /proc/sys/net/mptcp/enabled || { echo "needs a kernel with MPTCP"; exit 77; }
for n in client server; do ip netns add $n; done
for i in 1 2; do
  ip link add c$i netns client type veth peer s$i netns server
  ip -n client addr add 10.$i.0.1/24 dev c$i
  ip -n server addr add 10.$i.0.2/24 dev s$i
  ip -n client link set c$i up
  ip -n server link set s$i up
done
ip -n server mptcp endpoint add 10.2.0.2 dev s2 signal
ip -n client mptcp limits

cat >/run/serve <<'PY'
import socket
l = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(("0.0.0.0", 5000))
l.listen()
print(flush=True)
c, _ = l.accept()
while c.recv(1 << 16):
    pass
PY
cat >/run/talk <<'PY'
import socket, time
c = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
c.connect(("10.1.0.2", 5000))
for _ in range(50):
    c.sendall(bytes(10000))
    time.sleep(0.02)
info = c.getsockopt(284, 1, 64)  # MPTCP_INFO: subflows beside the first, addresses announced, accepted
print(f"{1 + info[0]} subflows, {info[2]} address accepted")
PY
subflows() {
  ip netns exec server python3 /run/serve | {
    read -r # it listens
    ip netns exec client python3 /run/talk
  }
}
same "by default" "$(subflows)" "1 subflows, 0 address accepted"
ip -n client mptcp limits set add_addr_accepted 1 subflows 2
same "with add_addr_accepted 1" "$(subflows)" "2 subflows, 1 address accepted"
