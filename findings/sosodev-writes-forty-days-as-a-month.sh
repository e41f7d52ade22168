#!/usr/bin/env bash
# Guess: Format writes a time.Duration of 40 days as P40D or PT960H, so that any reader gets 40 days back.
# Seen:  from 730 hours on it writes months, and from 8,760 years: 40 days are P1M1W2DT14H, 400 days P1Y1M4DT14H. A
#        reader with months of 30 days gets ten hours less, one with a calendar another time in each month, and others
#        refuse.
# With:  sosodev/duration 1.4.0, iso8601-duration 2.1.4 (npm).
set -euo pipefail
modules=(github.com/sosodev/duration@v1.4.0)

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

	"github.com/sosodev/duration"
)

func main() {
	for _, days := range []time.Duration{30, 40, 400} {
		fmt.Println(duration.Format(days * 24 * time.Hour))
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "30, 40 and 400 days" "$(./finding | xargs)" "P4W2D P1M1W2DT14H P1Y1M4DT14H"
{
  npm init -y && npm install --no-audit --no-fund iso8601-duration@2.1.4
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }
cat >main.mjs <<'JS'
import { parse, toSeconds } from "iso8601-duration";
console.log(toSeconds(parse(process.argv[2]), new Date(process.argv[3])) / 3600);
JS
same "hours of 960 that another library reads, from April and from July on" \
  "$(TZ=UTC node main.mjs P1M1W2DT14H 2026-04-01) $(TZ=UTC node main.mjs P1M1W2DT14H 2026-07-01)" "950 974"
