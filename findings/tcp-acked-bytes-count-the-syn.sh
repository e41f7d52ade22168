#!/usr/bin/env bash
# Guess: tcpi_bytes_acked of TCP_INFO (and of INET_DIAG, by which agents measure traffic) is the payload that the
#        other side has acknowledged, as tcpi_bytes_sent is the payload sent.
# Seen:  it is one more on the side that connected, for its SYN. On the side that accepted it is the payload, so the
#        two ends of one connection disagree.
# With:  Linux 6.18.
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

ip link set lo up
seen=$(python3 - <<'PY'
import socket, struct, time

def info(s, at):
    return struct.unpack_from("Q", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), at)[0]

acked, sent = 120, 200
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
client = socket.socket()
client.connect(listener.getsockname())
server, _ = listener.accept()
for a, b in ((client, server), (server, client)):
    a.sendall(bytes(1000))
    left = 1000
    while left:
        left -= len(b.recv(left))
end = time.monotonic() + 5
while min(info(client, acked), info(server, acked)) < 1000 and time.monotonic() < end:
    time.sleep(0.01)
for name, s in ("client", client), ("server", server):
    print(f"{name} sent {info(s, sent)} acked {info(s, acked)}", end="; ")
PY
)
same "counts" "$seen" "client sent 1000 acked 1001; server sent 1000 acked 1000; "
