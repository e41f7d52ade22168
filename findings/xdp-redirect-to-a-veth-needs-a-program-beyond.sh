#!/usr/bin/env bash
# Guess: an XDP program on one veth that redirects to another veth delivers to that one's far end.
# Seen:  nothing arrives until the far end has an XDP program of its own, and one that only passes will do: without,
#        it has no queue that takes XDP frames. The drops are counted where the redirecting program is, not at that
#        veth.
# With:  Linux 6.18, cilium/ebpf 0.22.0.
set -euo pipefail
modules=(github.com/cilium/ebpf@v0.22.0 golang.org/x/sys@v0.49.0)

[ "$(id -u)" = 0 ] || { echo "needs root, for namespaces and eBPF"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"fmt"
	"log"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func attach(name string, is ...asm.Instruction) {
	p := must(ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL", Instructions: is}))
	at := must(net.InterfaceByName(name)).Index
	must(link.AttachXDP(link.XDPOptions{Program: p, Interface: at, Flags: link.XDPDriverMode}))
}

// arrive sends ten frames out of a0 and returns how many arrive at b1, which has a packet socket.
func arrive(tap int) (n int) {
	frame := make([]byte, 60)
	copy(frame, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01\x88\xb5")
	for range 10 {
		if err := unix.Sendto(tap, frame, 0, to("a0")); err != nil {
			log.Fatal(err)
		}
	}
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		if _, _, err := unix.Recvfrom(tap, make([]byte, 100), unix.MSG_DONTWAIT); err == nil {
			n++
			continue
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

// drops returns the packets that an interface has dropped, coming in and going out.
func drops(name string) string {
	lines := strings.Split(string(must(exec.Command("ip", "-s", "link", "show", name).Output())), "\n")
	return strings.Fields(lines[len(lines)-4])[3] + "+" + strings.Fields(lines[len(lines)-2])[3]
}

func to(name string) *unix.SockaddrLinklayer {
	return &unix.SockaddrLinklayer{Ifindex: must(net.InterfaceByName(name)).Index, Protocol: 0xb588}
}

func main() {
	tap := must(unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0))
	if err := unix.Bind(tap, to("b1")); err != nil {
		log.Fatal(err)
	}
	attach("a1", asm.Mov.Imm(asm.R1, int32(to("b0").Ifindex)), asm.Mov.Imm(asm.R2, 0), asm.FnRedirect.Call(), asm.Return())
	fmt.Print(arrive(tap), " arrive, dropped a1 ", drops("a1"), " b0 ", drops("b0"), "; ")
	attach("b1", asm.Mov.Imm(asm.R0, 2), asm.Return()) // XDP_PASS
	fmt.Print(arrive(tap), " with a program at the far end")
}
GO
go build -o redirect .
cat >inside <<'SH'
set -e
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for i in a b; do
  ip link add "${i}0" type veth peer "${i}1"
  ip link set "${i}0" up
  ip link set "${i}1" up
done
until ip link show a0 | grep -q 'state UP' && ip link show b0 | grep -q 'state UP'; do sleep 0.05; done
sleep 0.3
./redirect
SH
same "frames of ten" "$(timeout 60 unshare --net bash inside)" \
  "0 arrive, dropped a1 10+0 b0 0+0; 10 with a program at the far end"
