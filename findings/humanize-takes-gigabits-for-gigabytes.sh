#!/usr/bin/env bash
# Guess: ParseBytes refuses 10Gb, or takes its small b for bits, as datasize and the library's own ParseSI do.
# Seen:  10Gb is 10 GB, without an error: case does not count. ParseSI gives 10¹⁰ of "b". datasize refuses 10Gb as
#        bits, but takes 10G and 10GB for 10 · 2³⁰, where humanize has 10¹⁰.
# With:  dustin/go-humanize 1.1.0, c2h5oh/datasize of 2023-12-15.
set -euo pipefail
modules=(github.com/dustin/go-humanize@v1.1.0 github.com/c2h5oh/datasize@v0.0.0-20231215233829-aa82cc1e6500)

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

	"github.com/c2h5oh/datasize"
	"github.com/dustin/go-humanize"
)

func main() {
	for _, text := range []string{"10Gb", "10GB", "10G"} {
		a, err := humanize.ParseBytes(text)
		b, refused := datasize.ParseString(text)
		fmt.Println(text, a, err, b.Bytes(), refused != nil)
	}
	fmt.Println(humanize.ParseSI("10Gb"))
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "bytes and error of humanize; bytes of datasize, and whether it refuses; ParseSI" "$(./finding)" \
  "10Gb 10000000000 <nil> 0 true
10GB 10000000000 <nil> 10737418240 false
10G 10000000000 <nil> 10737418240 false
1e+10 b <nil>"
