#!/usr/bin/env bash
# Guess: hyparquet gives timestamps of microseconds and nanoseconds as they are, say as BigInt, as it does for int64.
# Seen:  they become Dates, cut to milliseconds: packets 400 µs apart come at one time, and their order is lost. A
#        column of times of day (TIME_MICROS) keeps its microseconds.
# With:  hyparquet 1.33.0 (npm), parquet-go 0.32.0.
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

import "github.com/parquet-go/parquet-go"

type packet struct {
	Micro int64 `parquet:"micro,timestamp(microsecond)"`
	Nano  int64 `parquet:"nano,timestamp(nanosecond)"`
	Day   int64 `parquet:"day,time(microsecond)"`
}

func main() {
	var packets []packet
	for _, micro := range []int64{1700000000123100, 1700000000123500} {
		packets = append(packets, packet{micro, micro * 1000, micro % 86400000000})
	}
	if err := parquet.WriteFile("packets.parquet", packets); err != nil {
		panic(err)
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
./finding
{
  npm init -y && npm install --no-audit --no-fund hyparquet@1.33.0
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }
cat >main.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parquetReadObjects } from "hyparquet";
const file = new Uint8Array(readFileSync("packets.parquet")).buffer;
for (const { micro, nano, day } of await parquetReadObjects({ file }))
  console.log(micro.toISOString(), nano.toISOString(), day);
JS
same "two packets: in microseconds, in nanoseconds, and their time of day" "$(node main.mjs)" \
  "2023-11-14T22:13:20.123Z 2023-11-14T22:13:20.123Z 80000123100n
2023-11-14T22:13:20.123Z 2023-11-14T22:13:20.123Z 80000123500n"
