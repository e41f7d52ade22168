#!/usr/bin/env bash
# Guess: gopacket's pcapng reader scales times of an interface that counts in powers of two, if_tsresol 0x80 + 30, to
#        the nanosecond, as tcpdump and scapy do.
# Seen:  it takes each tick for a whole number of nanoseconds, 1 for 2^-30 s and 953 for 2^-20: half a second is
#        0.536871 and 0.499646. At 2^-30 a packet at 0.98 of a second comes after one that was taken 40 ms later.
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
	"encoding/binary"
	"fmt"
	"log"

	"github.com/google/gopacket/pcapgo"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func trace(bits int, seconds ...float64) []byte {
	var file bytes.Buffer
	block := func(fields ...any) {
		for _, field := range fields {
			must(binary.Write(&file, binary.LittleEndian, field))
		}
	}
	block(uint32(0x0A0D0D0A), uint32(28), uint32(0x1A2B3C4D), uint16(1), uint16(0), int64(-1), uint32(28))
	block(uint32(1), uint32(32), uint16(1), uint16(0), uint32(0)) // an interface, with if_tsresol
	block(uint16(9), uint16(1), uint32(0x80+bits), uint32(0), uint32(32))
	for _, second := range seconds {
		ticks := uint64(1_700_000_000)<<bits + uint64(second*float64(uint64(1)<<bits))
		block(uint32(6), uint32(92), uint32(0), uint32(ticks>>32), uint32(ticks), uint32(60), uint32(60))
		block(make([]byte, 60), uint32(92))
	}
	return file.Bytes()
}

func main() {
	for _, bits := range []int{20, 30} {
		file := bytes.NewReader(trace(bits, 0.5, 0.98, 1.02))
		reader, err := pcapgo.NewNgReader(file, pcapgo.DefaultNgReaderOptions)
		must(err)
		for range 3 {
			_, packet, err := reader.ReadPacketData()
			must(err)
			fmt.Printf("%.6f ", float64(packet.Timestamp.UnixNano()-1_700_000_000e9)/1e9)
		}
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "0.5, 0.98 and 1.02 in units of 2^-20 and 2^-30 s" "$(./finding)" \
  "0.499646 0.979307 1.019985 0.536871 1.052267 1.021475 "
