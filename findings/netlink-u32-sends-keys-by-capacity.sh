#!/usr/bin/env bash
# Guess: a U32 filter whose selector has Keys of length 1 has one key.
# Seen:  as many keys are sent as the slice has capacity, zeros behind the first: three that append has gathered are
#        four in the kernel, so what is read back is not what was asked, and no comparison settles. keys[:n:n] mends
#        it.
# With:  Linux 6.18, iproute2 6.1.0, vishvananda/netlink 1.3.1.
set -euo pipefail
modules=(github.com/vishvananda/netlink@v1.3.1)

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
	"os"
	"os/exec"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	lo, err := netlink.LinkByName("lo")
	must(err)
	at := netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(0xffff, 0),
		Parent: netlink.HANDLE_CLSACT}
	must(netlink.QdiscAdd(&netlink.GenericQdisc{QdiscAttrs: at, QdiscType: "clsact"}))

	gathered := append([]netlink.TcU32Key(nil), key(9), key(8))
	gathered = append(gathered, key(1))
	for i, keys := range [][]netlink.TcU32Key{gathered, gathered[:3:3]} {
		must(netlink.FilterAdd(&netlink.U32{
			FilterAttrs: netlink.FilterAttrs{LinkIndex: lo.Attrs().Index, Parent: netlink.HANDLE_MIN_EGRESS,
				Priority: uint16(i + 1), Protocol: unix.ETH_P_IP},
			Sel:     &netlink.TcU32Sel{Flags: netlink.TC_U32_TERMINAL, Keys: keys},
			ClassId: netlink.MakeHandle(1, 1),
		}))
		out, err := exec.Command("tc", "filter", "show", "dev", "lo", "egress", "pref", fmt.Sprint(i+1)).Output()
		must(err)
		os.Stderr.Write(out)
		fmt.Printf("%d of %d: %d; ", len(keys), cap(keys), strings.Count(string(out), "match"))
	}
}

// key matches destinations in 10.0.n.0/24.
func key(n uint32) netlink.TcU32Key { return netlink.TcU32Key{Mask: 0xffffff00, Val: 0x0a000000 | n<<8, Off: 16} }
GO
go mod tidy 2>/dev/null
go build -o keys .
same "keys asked, capacity, keys in the kernel" "$(timeout 60 unshare --net ./keys)" \
  "3 of 4: 4; 3 of 3: 3; "
