#!/usr/bin/env bash
# Guess: a link-bandwidth community of LB:65000:5000000000 is 40 Gbit/s: it is a float of bytes a second, and GoBGP's
#        docs/sources/policy.md has "LB: mean the link-bandwidth (in bytes)", with LB:65001:125000 to set one.
# Seen:  ParseExtendedCommunity, which reads the text, makes 4,294,967,296 of all that is greater, and returns no error:
#        40, 100 and 400 Gbit/s are one bandwidth, and shares by it are equal. A community that is made of the number,
#        or read off the wire, keeps it.
# With:  osrg/gobgp 4.8.0.
set -euo pipefail
modules=(github.com/osrg/gobgp/v4@v4.8.0)

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

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

func main() {
	for _, gigabits := range []int64{10, 40, 100, 400} {
		text := fmt.Sprint("65000:", gigabits*1e9/8)
		parsed, err := bgp.ParseExtendedCommunity(bgp.EC_SUBTYPE_LINK_BANDWIDTH, text)
		wire, _ := bgp.NewLinkBandwidthExtended(65000, float32(gigabits*1e9/8)).Serialize()
		read, _ := bgp.ParseExtended(wire)
		fmt.Printf("%s is %s %v, off the wire %s\n", text, parsed, err, read)
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "10, 40, 100 and 400 Gbit/s" "$(./finding)" \
  "65000:1250000000 is 65000:1250000000 <nil>, off the wire 65000:1250000000
65000:5000000000 is 65000:4294967296 <nil>, off the wire 65000:5000000000
65000:12500000000 is 65000:4294967296 <nil>, off the wire 65000:12499999744
65000:50000000000 is 65000:4294967296 <nil>, off the wire 65000:49999998976"
