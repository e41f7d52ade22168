#!/usr/bin/env bash
# Guess: NexthopInfo.Hops of a multipath route is the next hop's weight, since no other field is: 1 and 3 share flows
#        one to three.
# Seen:  it is the kernel's rtnh_hops, the weight less one: 1 and 3 are weights 2 and 4, a third and two thirds of the
#        flows. 0 and 2 are one to three.
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

	"github.com/vishvananda/netlink"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
	for _, name := range []string{"v0", "v1"} {
		link, err := netlink.LinkByName(name)
		must(err)
		must(netlink.LinkSetUp(link))
	}
	v0, err := netlink.LinkByName("v0")
	must(err)
	here, err := netlink.ParseAddr("10.0.0.1/24")
	must(err)
	must(netlink.AddrAdd(v0, here))
	for _, hops := range [][2]int{{1, 3}, {0, 2}} {
		must(netlink.RouteReplace(&netlink.Route{
			Dst: &net.IPNet{IP: net.IPv4(10, 1, 0, 0), Mask: net.CIDRMask(24, 32)},
			MultiPath: []*netlink.NexthopInfo{
				{LinkIndex: v0.Attrs().Index, Gw: net.IPv4(10, 0, 0, 2), Hops: hops[0]},
				{LinkIndex: v0.Attrs().Index, Gw: net.IPv4(10, 0, 0, 3), Hops: hops[1]},
			},
		}))
		out, err := exec.Command("ip", "route", "show", "10.1.0.0/24").Output()
		must(err)
		fmt.Print(regexp.MustCompile(`weight \d+`).FindAllString(string(out), -1))
	}
}
GO
go mod tidy 2>/dev/null
go build -o weights .
same "hops 1 and 3, 0 and 2" "$(timeout 60 unshare --net ./weights)" "[weight 2 weight 4][weight 1 weight 3]"
