#!/usr/bin/env bash
# Guess: NewLogInterval of an interval that is no power of two is an error, or the nearest one.
# Seen:  it is the next one toward a second, without an error: 3 s become 2 and 7 s become 4, more messages than asked
#        for, 300 ms become 500 and 10 ms become 15.625, fewer.
# With:  facebook/time of 2026-08-22.
set -euo pipefail
modules=(github.com/facebook/time@v0.0.0-20260822211804-f81aedc1c1e3)

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

	"github.com/facebook/time/ptp/protocol"
)

func main() {
	for _, asked := range []time.Duration{7e9, 3e9, 2e9, 5e8, 3e8, 1e7} {
		interval, err := protocol.NewLogInterval(asked)
		if err != nil {
			panic(err)
		}
		fmt.Print(asked, "=", interval.Duration(), " ")
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "intervals asked for and encoded" "$(./finding)" "7s=4s 3s=2s 2s=2s 500ms=500ms 300ms=500ms 10ms=15.625ms "
