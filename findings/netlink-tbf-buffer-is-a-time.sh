#!/usr/bin/env bash
# Guess: Buffer of a Tbf is its bucket in bytes, as burst is of `tc qdisc add … tbf`: 16,384 of them hold eleven full
#        packets at any rate.
# Seen:  Buffer is a time in ticks of 64 ns, sent as it stands, so the bucket is rate × 1.05 ms: 13,100 bytes at 100
#        Mbit/s, 1,310,000 at 10 Gbit/s, and 1,310 at 10 Mbit/s, where every full packet is dropped for ever and small
#        ones pass. Setting it gives no error. netlink.Xmittime(bytes a second, bytes) gives the ticks.
# With:  Linux 6.18, iproute2 6.1.0, vishvananda/netlink 1.3.1.
set -euo pipefail
modules=(github.com/vishvananda/netlink@v1.3.1)

[ "$(id -u)" = 0 ] || { echo "needs root, for namespaces"; exit 77; }
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
	"regexp"
	"time"

	"github.com/vishvananda/netlink"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// try sets a token bucket, prints what tc calls its burst, and counts datagrams that the far end receives.
func try(dev, far netlink.Link, bits uint64, buffer uint32) {
	must(netlink.QdiscReplace(&netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index,
		Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}, Rate: bits / 8, Limit: 1e5, Buffer: buffer}))
	out, err := exec.Command("tc", "qdisc", "show", "dev", dev.Attrs().Name).Output()
	must(err)
	fmt.Printf("%d Mbit/s: %s", bits/1e6, regexp.MustCompile(`burst \S+`).Find(out))
	conn, err := net.Dial("udp", "10.0.0.2:9")
	must(err)
	for _, size := range []int{1400, 40} {
		before := received(far)
		for range 5 {
			_, err := conn.Write(make([]byte, size))
			must(err)
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		fmt.Printf(", %d of 5 with %d bytes", received(far)-before, size)
	}
	fmt.Println()
}

func received(l netlink.Link) uint64 {
	l, err := netlink.LinkByIndex(l.Attrs().Index)
	must(err)
	return l.Attrs().Statistics.RxPackets
}

func main() {
	must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
	v0, err := netlink.LinkByName("v0")
	must(err)
	v1, err := netlink.LinkByName("v1")
	must(err)
	address, err := netlink.ParseAddr("10.0.0.1/24")
	must(err)
	must(netlink.AddrAdd(v0, address))
	must(netlink.NeighAdd(&netlink.Neigh{LinkIndex: v0.Attrs().Index, IP: net.IPv4(10, 0, 0, 2),
		HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 2}, State: netlink.NUD_PERMANENT}))
	must(netlink.LinkSetUp(v0))
	must(netlink.LinkSetUp(v1))
	for _, bits := range []uint64{10e6, 100e6, 10e9} {
		try(v0, v1, bits, 16384)
	}
	try(v0, v1, 10e6, netlink.Xmittime(10e6/8, 16384))
}
GO
go mod tidy 2>/dev/null
go build -o tbf .
same "Buffer 16384, and Xmittime of it" \
  "$(timeout 60 unshare --net sh -c 'sysctl -qw net.ipv6.conf.default.disable_ipv6=1; exec ./tbf')" \
  "10 Mbit/s: burst 1310b, 0 of 5 with 1400 bytes, 5 of 5 with 40 bytes
100 Mbit/s: burst 13100b, 5 of 5 with 1400 bytes, 5 of 5 with 40 bytes
10000 Mbit/s: burst 1310000b, 5 of 5 with 1400 bytes, 5 of 5 with 40 bytes
10 Mbit/s: burst 16Kb, 5 of 5 with 1400 bytes, 5 of 5 with 40 bytes"
