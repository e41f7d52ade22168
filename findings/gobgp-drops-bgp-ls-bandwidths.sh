#!/usr/bin/env bash
# Guess: gobgp decodes a BGP-LS attribute and encodes it again with each TLV, also those that it does not know, as
#        RFC 9552 (5.1) asks, and gives both adjacency SIDs of a link, one that is protected and one that is not.
# Seen:  residual, available and utilized bandwidth (TLVs 1118 to 1120) are left out without an error, 72 bytes become
#        48, and what Extract and the JSON give has the last SID alone.
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
	"encoding/binary"
	"fmt"
	"math"

	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

func main() {
	var tlvs []byte
	add := func(kind uint16, value []byte) {
		tlvs = binary.BigEndian.AppendUint16(tlvs, kind)
		tlvs = binary.BigEndian.AppendUint16(tlvs, uint16(len(value)))
		tlvs = append(tlvs, value...)
	}
	rate := func(bytes float32) []byte { return binary.BigEndian.AppendUint32(nil, math.Float32bits(bytes)) }
	const bandwidth, metric, sid, delay, residual, available, utilized = 1089, 1095, 1099, 1114, 1118, 1119, 1120
	add(bandwidth, rate(12.5e9))
	add(metric, []byte{0, 0, 10})
	add(sid, []byte{0xb0, 0, 0, 0, 0, 3, 0xe9}) // 1001, protected
	add(sid, []byte{0x30, 0, 0, 0, 0, 3, 0xea}) // 1002
	add(delay, []byte{0, 0, 0, 5})
	add(residual, rate(1e9))
	add(available, rate(2e9))
	add(utilized, rate(3e9))
	before := append([]byte{0x80, 29, byte(len(tlvs))}, tlvs...)
	ls := &bgp.PathAttributeLs{}
	if err := ls.DecodeFromBytes(before); err != nil {
		panic(err)
	}
	after, err := ls.Serialize()
	if err != nil {
		panic(err)
	}
	fmt.Println(len(before), len(after), "bytes")
	for rest := after[3:]; len(rest) > 0; rest = rest[4+binary.BigEndian.Uint16(rest[2:]):] {
		fmt.Print(binary.BigEndian.Uint16(rest), " ")
	}
	fmt.Println()
	fmt.Println("SID", *ls.Extract().Link.SrAdjacencySID)
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "length, then the TLVs that are left, and the SID given" "$(./finding)" "72 48 bytes
1089 1095 1099 1099 1114 
SID 1002"
