#!/usr/bin/env bash
# Guess: parquet-go refuses to read a column of 64-bit integers into a field of 32 bits, or the value that does not fit.
# Seen:  it keeps the lowest 32 bits without an error: 3,000,000,000 bytes are -1,294,967,296. A column of uint32 wraps
#        in an int32 likewise, and a field whose name no column has is 0.
# With:  parquet-go 0.32.0.
set -euo pipefail
modules=(github.com/parquet-go/parquet-go@v0.32.0)

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

	"github.com/parquet-go/parquet-go"
)

type written struct {
	Bytes   int64
	Packets uint32
}

type read struct {
	Bytes   int32
	Packets int32
	Flows   int64
}

func main() {
	var file bytes.Buffer
	if err := parquet.Write(&file, []written{{3_000_000_000, 4_000_000_000}, {5_000_000_000, 7}}); err != nil {
		log.Fatal(err)
	}
	rows, err := parquet.Read[read](bytes.NewReader(file.Bytes()), int64(file.Len()))
	fmt.Print(rows, " ", err)
}
GO
go mod tidy 2>/dev/null
same "bytes, packets and flows of two rows" "$(go run .)" "[{-1294967296 -294967296 0} {705032704 7 0}] <nil>"
