#!/usr/bin/env bash
# Guess: FromString returns an error for parts of ISO 8601 that it does not read.
# Seen:  it looks for a duration anywhere in the text and leaves out what does not fit: PT0.5S is 0, PT1.5H is 0,
#        P1W2D one week, and -PT5S five seconds forward, all without an error.
# With:  ChannelMeter/iso8601duration of 2015-02-04, sosodev/duration 1.4.0, which reads all four.
set -euo pipefail
modules=(github.com/channelmeter/iso8601duration@v0.0.0-20150204201828-8da3af7a2a61 github.com/sosodev/duration@v1.4.0)

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

	iso "github.com/channelmeter/iso8601duration"
	"github.com/sosodev/duration"
)

func main() {
	for _, text := range []string{"PT0.5S", "PT1.5H", "P1W2D", "-PT5S"} {
		a, err := iso.FromString(text)
		if err != nil {
			fmt.Println(text, err)
			continue
		}
		b, err := duration.Parse(text)
		fmt.Println(text, a.ToDuration(), b.ToTimeDuration(), err)
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "what it reads, and what sosodev reads" "$(./finding)" "PT0.5S 0s 500ms <nil>
PT1.5H 0s 1h30m0s <nil>
P1W2D 168h0m0s 216h0m0s <nil>
-PT5S 5s -5s <nil>"
