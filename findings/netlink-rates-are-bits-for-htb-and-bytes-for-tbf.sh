#!/usr/bin/env bash
# Guess: Rate of a qdisc or class is in one unit throughout the library, and a class that is read can be set again.
# Seen:  HtbClassAttrs.Rate is bits a second and Tbf.Rate bytes: the same number is 1 and 8 Mbit/s. ClassList returns an
#        HTB class's rate in bytes, so a class that is read, changed elsewhere and set again by NewHtbClass has an eighth
#        of its rate; set again as it was read, without that function, it keeps it.
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
	"os/exec"
	"regexp"

	"github.com/vishvananda/netlink"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// kernel prints the rate that tc shows.
func kernel(what, dev string) {
	out, err := exec.Command("tc", what, "show", "dev", dev).Output()
	must(err)
	fmt.Printf("%s ", regexp.MustCompile(`rate (\S+)`).FindSubmatch(out)[1])
}

func main() {
	must(netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
	v0, err := netlink.LinkByName("v0")
	must(err)
	v1, err := netlink.LinkByName("v1")
	must(err)
	root := func(l netlink.Link) netlink.QdiscAttrs {
		return netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
	}

	must(netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: root(v1), Rate: 1e6, Limit: 1e5, Buffer: 16000}))
	kernel("qdisc", "v1")

	must(netlink.QdiscAdd(netlink.NewHtb(root(v0))))
	at := netlink.ClassAttrs{LinkIndex: v0.Attrs().Index, Parent: netlink.MakeHandle(1, 0), Handle: netlink.MakeHandle(1, 1)}
	must(netlink.ClassAdd(netlink.NewHtbClass(at, netlink.HtbClassAttrs{Rate: 1e6})))
	kernel("class", "v0")

	all, err := netlink.ClassList(v0, 0)
	must(err)
	read := all[0].(*netlink.HtbClass)
	fmt.Printf("%d ", read.Rate)
	must(netlink.ClassReplace(read))
	kernel("class", "v0")
	must(netlink.ClassReplace(netlink.NewHtbClass(at, netlink.HtbClassAttrs{Rate: read.Rate})))
	kernel("class", "v0")
}
GO
go mod tidy 2>/dev/null
go build -o rates .
same "tbf, htb, read, set as read, set by NewHtbClass" "$(timeout 60 unshare --net ./rates)" \
  "8Mbit 1Mbit 125000 1Mbit 125Kbit "
