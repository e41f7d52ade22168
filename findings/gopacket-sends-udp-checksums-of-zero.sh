#!/usr/bin/env bash
# Guess: gopacket, told to compute checksums, sends a UDP checksum that comes out as 0 as 0xffff: RFC 768 has 0 say that
#        there is none, and RFC 8200 has receivers drop such packets over IPv6.
# Seen:  google/gopacket sends 0. With SerializeOptions{ComputeChecksums: true} one payload of two bytes in 65,536 makes
#        a packet over IPv6 that each receiver drops. The fork gopacket/gopacket sends 0xffff.
# With:  google/gopacket 1.1.19, gopacket/gopacket 1.7.7.
set -euo pipefail
modules=(github.com/google/gopacket@v1.1.19 github.com/gopacket/gopacket@v1.7.7)

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
	"net"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// checksum returns the UDP checksum of a datagram with two bytes.
func checksum(payload uint16) uint16 {
	ip := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolUDP, HopLimit: 64,
		SrcIP: net.ParseIP("2001:db8::1"), DstIP: net.ParseIP("2001:db8::2")}
	udp := &layers.UDP{SrcPort: 5000, DstPort: 5001}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		panic(err)
	}
	packet := gopacket.NewSerializeBuffer()
	options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	data := gopacket.Payload(binary.BigEndian.AppendUint16(nil, payload))
	if err := gopacket.SerializeLayers(packet, options, ip, udp, data); err != nil {
		panic(err)
	}
	return binary.BigEndian.Uint16(packet.Bytes()[46:])
}

func main() {
	count := map[uint16]int{}
	for payload := range 65536 {
		count[checksum(uint16(payload))]++
	}
	fmt.Println(count[0], count[0xffff])
}
GO
mkdir fork
sed 's|github.com/google/|github.com/gopacket/|' main.go >fork/main.go
go mod tidy 2>/dev/null
go build -o finding . && go build -o forked ./fork
same "of all payloads of two bytes, those with checksum 0 and 0xffff, google/gopacket" "$(./finding)" "1 0"
same "gopacket/gopacket" "$(./forked)" "0 1"
