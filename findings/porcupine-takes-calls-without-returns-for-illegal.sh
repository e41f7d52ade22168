#!/usr/bin/env bash
# Guess: porcupine's CheckEvents takes a call without a return, of a client that got no answer, for one that may have
#        happened or not, as the histories of Jepsen do.
# Seen:  the history is not linearizable, whatever else is in it, even if the call is the only one. With a return at the
#        end of the history it is.
# With:  anishathalye/porcupine 1.3.1.
set -euo pipefail
modules=(github.com/anishathalye/porcupine@v1.3.1)

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

	"github.com/anishathalye/porcupine"
)

type operation struct {
	write bool
	value int
}

func main() {
	register := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			if in := input.(operation); in.write {
				return true, in.value
			}
			return output == state, state
		},
	}
	write := porcupine.Event{ClientId: 0, Kind: porcupine.CallEvent, Value: operation{true, 5}, Id: 0}
	read := porcupine.Event{ClientId: 1, Kind: porcupine.CallEvent, Value: operation{}, Id: 1}
	five := porcupine.Event{ClientId: 1, Kind: porcupine.ReturnEvent, Value: 5, Id: 1}
	written := porcupine.Event{ClientId: 0, Kind: porcupine.ReturnEvent, Id: 0}
	for _, history := range [][]porcupine.Event{{write}, {write, read, five}, {write, read, five, written}} {
		fmt.Print(porcupine.CheckEvents(register, history), " ")
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "a write; a write and a read of it; with the write's return at the end" "$(./finding)" "false false true "
