#!/usr/bin/env bash
# Guess: gonum's Quantile with LinInterp gives what numpy, R and spreadsheets give by default: the median of 1, 2, 3 is
#        2.
# Seen:  it is 1.5, and of 1, 2, 3, 4 it is 2: LinInterp is what R calls type 4, whose quantiles lie up to one sample
#        lower. Of 1 to 10 the 90th percentile is 9, where numpy has 9.1. Empirical gives 2 for the median of three.
# With:  gonum 0.17.0.
set -euo pipefail
modules=(gonum.org/v1/gonum@v0.17.0)

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

	"gonum.org/v1/gonum/stat"
)

func main() {
	samples := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for n := 1; n <= 4; n++ {
		fmt.Print(stat.Quantile(0.5, stat.LinInterp, samples[:n], nil), " ")
	}
	fmt.Print("p90 ", stat.Quantile(0.9, stat.LinInterp, samples, nil))
	fmt.Print(" Empirical ", stat.Quantile(0.5, stat.Empirical, samples[:3], nil))
}
GO
go mod tidy 2>/dev/null
same "medians of 1, 2, 3 and 4 samples" "$(go run .)" "1 1 1.5 2 p90 9 Empirical 2"
