#!/usr/bin/env bash
# Guess: a new network namespace takes its default congestion control from the namespace in which it is made; and its
#        root, who may set any available algorithm on a socket, can make it the default there.
# Seen:  it takes the default of the machine's first namespace. An available algorithm that the first namespace does
#        not have in tcp_allowed_congestion_control is refused as default, while a socket gets it.
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

knobs=/proc/sys/net/ipv4
first=$(cat $knobs/tcp_congestion_control) # as inherited: unshare has just made this namespace
read -r available <$knobs/tcp_available_congestion_control
read -r allowed <$knobs/tcp_allowed_congestion_control
echo "first namespace: $first; available: $available; allowed: $allowed"
[ "$first" != reno ] || { echo "needs a machine whose default is not reno"; exit 77; }

echo reno >$knobs/tcp_congestion_control
same "here" "$(cat $knobs/tcp_congestion_control)" reno
same "in a namespace made here" "$(unshare --net cat $knobs/tcp_congestion_control)" "$first"

other=
for name in $available; do
  case " $allowed " in *" $name "*) ;; *) other=$name ;; esac
done
[ "$other" ] || { echo "needs an algorithm that is available and not allowed to all"; exit 77; }
as_default=taken
(echo "$other" >$knobs/tcp_congestion_control) 2>/dev/null || as_default=refused
on_socket=$(python3 -c '
import socket, sys
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
print("taken")' "$other")
same "$other as default" "$as_default" refused
same "$other on a socket" "$on_socket" taken
