#!/usr/bin/env bash
# Guess: NewOf, which "also indicates whether the conversion is precise", is precise for microseconds or says no.
#        Parse reads PT1.25H as an hour and a quarter.
# Seen:  each field holds tenths. 33 µs become P0D and 1.234567 s PT1.2S, both "precise". PT1.25H is read as 1 h 12
#        min, and PT0.04S as nothing, without an error.
# With:  rickb777/date of 2020-04-22.
set -euo pipefail
modules=(github.com/rickb777/date@v1.12.5-0.20200422084442-6300e543c4d9)

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
	"time"

	"github.com/rickb777/date/period"
)

func main() {
	for _, d := range []time.Duration{33 * time.Microsecond, 1234567 * time.Microsecond} {
		p, precise := period.NewOf(d)
		fmt.Println(d, p, precise)
	}
	for _, text := range []string{"PT1.25H", "PT0.04S"} {
		p, err := period.Parse(text)
		fmt.Println(text, p.DurationApprox(), err)
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "periods of 33 µs and 1.234567 s, and whether precise; PT1.25H and PT0.04S" "$(./finding)" "33µs P0D true
1.234567s PT1.2S true
PT1.25H 1h12m0s <nil>
PT0.04S 0s <nil>"
