#!/usr/bin/env bash
# Guess: gopacket's pcapng reader returns every packet of a file, or an error where it cannot.
# Seen:  by default it returns those of the first interface's link type and passes over all others without a word:
#        three of six packets, then io.EOF. With WantMixedLinkType all six. A file with notes beside the packets
#        (Wireshark's exported PDUs) reads as if it had none.
# With:  gopacket 1.1.19.
set -euo pipefail
modules=(github.com/google/gopacket@v1.1.19)

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
	"bytes"
	"fmt"
	"log"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

func main() {
	var file bytes.Buffer
	w, err := pcapgo.NewNgWriter(&file, layers.LinkTypeEthernet)
	if err != nil {
		log.Fatal(err)
	}
	const exportedPDU = 252
	if _, err := w.AddInterface(pcapgo.NgInterface{Name: "notes", LinkType: exportedPDU}); err != nil {
		log.Fatal(err)
	}
	for i := range 6 {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), Length: 60, CaptureLength: 60, InterfaceIndex: i % 2}
		if err := w.WritePacket(info, make([]byte, 60)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	for _, options := range []pcapgo.NgReaderOptions{pcapgo.DefaultNgReaderOptions, {WantMixedLinkType: true}} {
		r, err := pcapgo.NewNgReader(bytes.NewReader(file.Bytes()), options)
		if err != nil {
			log.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, _, err = r.ReadPacketData()
		}
		fmt.Printf("%d then %v; ", n-1, err)
	}
}
GO
go mod tidy 2>/dev/null
same "packets of six by default, with WantMixedLinkType" "$(go run .)" "3 then EOF; 6 then EOF; "
