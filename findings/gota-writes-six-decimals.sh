#!/usr/bin/env bash
# Guess: a data frame of gota that is written with WriteCSV and read with ReadCSV has the values that it had.
# Seen:  floats are written with six decimals: 400 ns in seconds are 0.000000, and two completion times that differ
#        become the same. No error is returned.
# With:  gota 0.12.0.
set -euo pipefail
modules=(github.com/go-gota/gota@v0.12.0)

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
	"strings"

	"github.com/go-gota/gota/dataframe"
)

func main() {
	table := dataframe.ReadCSV(strings.NewReader("flow,seconds\n1,0.0000004\n2,1.0000004\n3,1.0000001\n"))
	var file bytes.Buffer
	if err := table.WriteCSV(&file); err != nil {
		log.Fatal(err)
	}
	again := dataframe.ReadCSV(&file)
	fmt.Print(table.Col("seconds").Float(), again.Col("seconds").Float(), again.Error())
}
GO
go mod tidy 2>/dev/null
same "seconds before and after" "$(go run .)" "[4e-07 1.0000004 1.0000001] [0 1 1] <nil>"
