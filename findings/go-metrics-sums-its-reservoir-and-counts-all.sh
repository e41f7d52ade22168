#!/usr/bin/env bash
# Guess: Sum of a go-metrics histogram is the sum of all values that Count counts, so that Sum/Count is their mean.
# Seen:  Count is of all values, Sum of those that the reservoir holds: 10,000 times 5 in a reservoir of 100 are Count
#        10,000 and Sum 500, and Sum/Count is 0.05. A timer, which has a reservoir of 1,028, does so too: rates and
#        averages made of its exported sums are wrong from the 1,029th value on.
# With:  rcrowley/go-metrics of 2025-04-01.
set -euo pipefail
modules=(github.com/rcrowley/go-metrics@v0.0.0-20250401214520-65e299d6c5c9)

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

	"github.com/rcrowley/go-metrics"
)

func main() {
	histogram, timer := metrics.NewHistogram(metrics.NewUniformSample(100)), metrics.NewTimer()
	defer timer.Stop()
	for range 10000 {
		histogram.Update(5)
		timer.Update(5)
	}
	fmt.Println(histogram.Count(), histogram.Sum(), histogram.Mean(), "-", timer.Count(), timer.Sum(), timer.Mean())
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "Count, Sum and Mean of a histogram, and of a timer" "$(./finding)" "10000 500 5 - 10000 5140 5"
