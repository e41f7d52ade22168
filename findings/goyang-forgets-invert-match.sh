#!/usr/bin/env bash
# Guess: a pattern with `modifier invert-match` (RFC 7950, 9.4.6) is marked as such in goyang's type, or refused, so
#        that what is checked by it forbids the names that the model forbids.
# Seen:  the type has the bare pattern and nothing else, without an error, and validation by ygot is the wrong way
#        round: with "reserved.*" inverted, it takes reserved-1 and refuses tor1.
# With:  goyang 1.6.3, ygot 0.29.20.
set -euo pipefail
modules=(github.com/openconfig/goyang@v1.6.3 github.com/openconfig/ygot@v0.29.20)

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

	"github.com/openconfig/goyang/pkg/yang"
	"github.com/openconfig/ygot/ytypes"
)

const module = `module fabric {
  yang-version 1.1;
  namespace "urn:fabric"; prefix f;
  leaf name { type string { pattern "reserved.*" { modifier invert-match; } } }
}`

func main() {
	ms := yang.NewModules()
	if err := ms.Parse(module, "fabric.yang"); err != nil {
		fmt.Println(err)
	}
	tree, errs := ms.GetModule("fabric")
	name := tree.Dir["name"].Type
	fmt.Println("errors", len(errs), "patterns", name.Pattern, name.POSIXPattern)
	for _, s := range []string{"reserved-1", "tor1"} {
		fmt.Println(s, "is valid:", ytypes.ValidateStringRestrictions(name, s) == nil)
	}
}
GO
go mod tidy 2>/dev/null
same "inverted reserved.*" "$(go run .)" "errors 0 patterns [reserved.*] []
reserved-1 is valid: true
tor1 is valid: false"
