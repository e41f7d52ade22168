#!/usr/bin/env bash
# Guess: Welch of onlinestats, "the probability that the difference in means is due to chance", is small for means that
#        differ, near 1 for equal ones, and the same whichever sample comes first.
# Seen:  it is the distribution function at t, of one side: a half for equal means, almost 1 if the second mean is
#        greater and almost 0 if the first one is. Of two policies the better one is "significant" in one order alone.
# With:  dgryski/go-onlinestats of 2017-06-12.
set -euo pipefail
modules=(github.com/dgryski/go-onlinestats@v0.0.0-20170612111826-1c7d19468768)

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

	"github.com/dgryski/go-onlinestats"
)

func main() {
	sample := func(times ...float64) *onlinestats.Running {
		running := onlinestats.NewRunning()
		for _, time := range times {
			running.Push(time)
		}
		return running
	}
	fast, slow := sample(10, 11, 12, 13, 14), sample(20, 21, 22, 23, 24)
	welch := func(a, b *onlinestats.Running) { fmt.Printf("%.6f ", onlinestats.Welch(a, b)) }
	welch(fast, slow)
	welch(slow, fast)
	welch(fast, fast)
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "fast and slow, slow and fast, fast and itself" "$(./finding)" "0.999996 0.000004 0.500000 "
