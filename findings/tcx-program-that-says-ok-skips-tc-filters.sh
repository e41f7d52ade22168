#!/usr/bin/env bash
# Guess: a BPF program at the TCX hook that returns 0 (TC_ACT_OK, "go on") lets the packet go on to the filters that
#        tc shows on the interface.
# Seen:  0 ends the whole hook: filters of clsact are never asked, and tc shows them as if nothing had happened. Only
#        -1 (TCX_NEXT) goes on to them.
# With:  Linux 6.18, iproute2 6.1.0, cilium/ebpf 0.22.0.
set -euo pipefail
modules=(github.com/cilium/ebpf@v0.22.0)

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

read -r major minor <<<"$(uname -r | tr '.-' '  ')"
[ $((major * 100 + ${minor%% *})) -ge 606 ] || { echo "needs Linux 6.6, for TCX"; exit 77; }

cat >main.go <<'GO'
package main

import (
	"fmt"
	"log"
	"net"
	"os/exec"
	"regexp"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

var packets = regexp.MustCompile(`Sent \d+ bytes (\d+) pkt`)

// filtered sends ten datagrams and returns how many the filter has met in all.
func filtered() string {
	c, err := net.Dial("udp", "10.0.0.2:99")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for range 10 {
		if _, err := c.Write([]byte("x")); err != nil {
			log.Fatal(err)
		}
	}
	out, err := exec.Command("tc", "-s", "filter", "show", "dev", "v0", "egress").Output()
	if err != nil {
		log.Fatal(err)
	}
	return packets.FindStringSubmatch(string(out))[1]
}

func with(verdict int32) string {
	v0, err := net.InterfaceByName("v0")
	if err != nil {
		log.Fatal(err)
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, verdict), asm.Return()}})
	if err != nil {
		log.Fatal(err)
	}
	l, err := link.AttachTCX(link.TCXOptions{Program: p, Interface: v0.Index, Attach: ebpf.AttachTCXEgress})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	return filtered()
}

func main() { fmt.Println(filtered(), "alone,", with(0), "after ten under 0,", with(-1), "after ten under -1") }
GO
go build -o tcx .
cat >inside <<'SH'
set -e
ip link add v0 type veth peer v1
ip addr add 10.0.0.1/24 dev v0
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0
ip link set v0 up
ip link set v1 up
tc qdisc add dev v0 clsact
ip link add s0 type veth peer s1
ip link set s0 up
ip link set s1 up
tc filter add dev v0 egress protocol ip u32 match ip dport 99 0xffff action mirred egress redirect dev s0
./tcx
SH
same "datagrams that the filter has met" "$(timeout 60 unshare --net bash inside)" \
  "10 alone, 10 after ten under 0, 20 after ten under -1"
