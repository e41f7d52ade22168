#!/usr/bin/env bash
# Guess: GBPApplied of gopacket's VXLAN is the A bit of the group-policy draft, as in Linux and scapy: 0x08 of the second
#        byte.
# Seen:  it reads and writes 0x80, which is reserved: a packet whose policy Linux has applied is decoded as one that it
#        has not, and one that gopacket marks as applied has no A for scapy. The D bit
#        and the group agree. The fork gopacket/gopacket has the A bit right.
# With:  google/gopacket 1.1.19, gopacket/gopacket 1.7.7, scapy 2.5.0 (Debian bookworm).
set -euo pipefail
debs=(python3-scapy=2.5.0+dfsg-2)
modules=(github.com/google/gopacket@v1.1.19 github.com/gopacket/gopacket@v1.7.7)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"encoding/hex"
	"fmt"
	"os"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

func main() {
	if len(os.Args) > 1 {
		header, _ := hex.DecodeString(os.Args[1])
		var vxlan layers.VXLAN
		err := vxlan.DecodeFromBytes(header, gopacket.NilDecodeFeedback)
		fmt.Println("group", vxlan.GBPGroupPolicyID, "do not learn", vxlan.GBPDontLearn,
			"applied", vxlan.GBPApplied, err)
		return
	}
	b := gopacket.NewSerializeBuffer()
	vxlan := layers.VXLAN{ValidIDFlag: true, VNI: 5000, GBPExtension: true, GBPGroupPolicyID: 7, GBPApplied: true}
	if err := vxlan.SerializeTo(b, gopacket.SerializeOptions{}); err != nil {
		panic(err)
	}
	fmt.Println(hex.EncodeToString(b.Bytes()))
}
GO
mkdir fork
sed 's|github.com/google/|github.com/gopacket/|' main.go >fork/main.go
go mod tidy 2>/dev/null
go build -o finding . && go build -o forked ./fork
cat >main.py <<'PY'
import sys
from scapy.layers.vxlan import VXLAN

if len(sys.argv) > 1:
    vxlan = VXLAN(bytes.fromhex(sys.argv[1]))
    print("group", vxlan.gpid, "flags", vxlan.gpflags)
else:
    for flags in "A", "D":
        print(bytes(VXLAN(flags="G+Instance", gpflags=flags, gpid=7, vni=5000)).hex())
PY
scapy() { /usr/bin/python3 main.py "$@" 2>/dev/null; }
same "scapy writes A, then D" "$(scapy | xargs)" "8808000700138800 8840000700138800"
same "gopacket reads A" "$(./finding 8808000700138800)" "group 7 do not learn false applied false <nil>"
same "gopacket reads D" "$(./finding 8840000700138800)" "group 7 do not learn true applied false <nil>"
same "gopacket writes GBPApplied" "$(./finding)" 8880000700138800
same "scapy reads that" "$(scapy "$(./finding)")" "group 7 flags R"
same "gopacket/gopacket reads A, and writes it" "$(./forked 8808000700138800); $(./forked)" \
  "group 7 do not learn false applied true <nil>; 8808000700138800"
