#!/usr/bin/env bash
# Guess: with net.ipv4.fib_multipath_hash_policy=1 an emulated router chooses a flow's path by addresses and ports, as a
#        switch does: the same five fields take the same path, which `ip route get … sport … dport …` tells, and a flow
#        stays on it when it goes dark.
# Seen:  it uses the hash that the packet has from its sender's socket, which crosses the veth and is drawn anew for
#        each connection: TCP and connected UDP between the same ports go now one way, now the other. TCP draws again
#        when it sends again, so flows leave a dark path within seconds. Unconnected UDP has no such hash, and keeps to
#        its path.
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

for n in client router server; do
  ip netns add $n
  ip netns exec $n sysctl -qw net.ipv6.conf.all.disable_ipv6=1
  ip -n $n link set lo up
done
cable() { # namespace, device, address, and of the far end
  ip link add "$2" netns "$1" type veth peer "$5" netns "$4"
  ip -n "$1" addr add "$3/24" dev "$2"
  ip -n "$4" addr add "$6/24" dev "$5"
  ip -n "$1" link set "$2" up
  ip -n "$4" link set "$5" up
}
cable client edge 10.0.0.1 router host 10.0.0.2
cable router way1 10.0.1.1 server in1 10.0.1.2
cable router way2 10.0.2.1 server in2 10.0.2.2
ip -n server addr add 10.9.0.1/32 dev lo
ip -n client route add default via 10.0.0.2
ip -n server route add default via 10.0.1.1
ip -n router route add 10.9.0.1 nexthop via 10.0.1.2 nexthop via 10.0.2.2
ip netns exec router sysctl -qw net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1
for d in all in1 in2; do ip netns exec server sysctl -qw "net.ipv4.conf.$d.rp_filter=0"; done

cat >/run/flows.py <<'PY'
import ctypes, os, select, socket, struct, subprocess, time

libc = ctypes.CDLL(None)


def enter(namespace):
    with open("/run/netns/" + namespace) as f:
        assert libc.setns(f.fileno(), 0x40000000) == 0  # CLONE_NEWNET


enter("server")
taps = [socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800)) for _ in range(2)]
for i, tap in enumerate(taps):
    tap.bind((f"in{i + 1}", 0x0800))
listener = socket.create_server(("10.9.0.1", 7), backlog=64)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("10.9.0.1", 7))
enter("client")


def ways():
    return {i + 1 for i, tap in enumerate(taps) if drain(tap)}


def drain(tap):
    n = 0
    while select.select([tap], [], [], 0)[0]:
        tap.recv(2000)
        n += 1
    return n


def tcp():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # end by a reset
    s.bind(("10.0.0.1", 5555))
    s.connect(("10.9.0.1", 7))
    s.close()
    listener.accept()[0].close()


def udp(connect=False):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("10.0.0.1", 5555))
        if connect:
            s.connect(("10.9.0.1", 7))
            s.send(b"x")
        else:
            s.sendto(b"x", ("10.9.0.1", 7))
        datagrams.recv(10)


for name, send in ("TCP", tcp), ("connected UDP", lambda: udp(True)), ("unconnected UDP", udp):
    ways()
    used = set()
    for _ in range(40):
        send()
        used |= ways()
    print(name, "takes", len(used), "of 2")

pairs = []
for _ in range(16):
    s = socket.create_connection(("10.9.0.1", 7))
    pairs.append((s, listener.accept()[0]))
subprocess.check_call(["ip", "-n", "router", "neigh", "replace", "10.0.2.2", "lladdr", "02:00:00:00:00:99",
                       "dev", "way2", "nud", "permanent"])  # no port has this address: what goes this way is lost
for s, _ in pairs:
    s.send(b"x")
time.sleep(0.1)
waiting = [c for _, c in pairs]
waiting = [c for c in waiting if not select.select([c], [], [], 0)[0]]
dark = len(waiting)
end = time.monotonic() + 20
while len(waiting) > dark // 2 and time.monotonic() < end:
    for c in select.select(waiting, [], [], 1)[0]:
        waiting.remove(c)
print("flows on a dark way:", dark > 0, "half of them leave it:", len(waiting) <= dark // 2)
PY
same "one pair of ports, 40 times, and 16 flows at a dark way" "$(python3 /run/flows.py)" "TCP takes 2 of 2
connected UDP takes 2 of 2
unconnected UDP takes 1 of 2
flows on a dark way: True half of them leave it: True"
