#!/usr/bin/env bash
# Guess: runtime.DefaultUnstructuredConverter.FromUnstructured, by which controllers read custom resources into their own
# types, behaves like encoding/json on the same text: a number that does not fit its field is an error, and a field is
# found whatever case its name is written in.
# Seen:  integers wrap without an error (3,000,000,000 in an int32 is −1,294,967,296, and 300 in a uint8 is 44), and a name
# in another case is passed over without an error. A fraction in an integer field is an error, as in encoding/json.
# With:  k8s.io/apimachinery 0.36.3, Go 1.26.
set -euo pipefail
command -v go >/dev/null || { echo "needs Go"; exit 77; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
cat >go.mod <<'EOF'
module finding

go 1.26.0

require k8s.io/apimachinery v0.36.3
EOF
cat >main.go <<'EOF'
package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

type spec struct {
	Count int32 `json:"count"`
	Level uint8 `json:"level"`
}

func main() {
	for _, text := range []string{`{"count":3000000000}`, `{"level":300}`, `{"Count":2}`, `{"count":2.7}`} {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			panic(err)
		}
		var byJSON, byConverter spec
		err := json.Unmarshal([]byte(text), &byJSON)
		err2 := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &byConverter)
		fmt.Println(text, "json:", byJSON, err != nil, "converter:", byConverter, err2 != nil)
	}
}
EOF
go mod tidy >/dev/null 2>&1 || { echo "needs Go's module proxy, for k8s.io/apimachinery v0.36.3"; exit 77; }
got=$(go run .)
echo "$got"
expected='{"count":3000000000} json: {0 0} true converter: {-1294967296 0} false
{"level":300} json: {0 0} true converter: {0 44} false
{"Count":2} json: {2 0} false converter: {0 0} false
{"count":2.7} json: {0 0} true converter: {0 0} true'
[ "$got" = "$expected" ] || { echo "CHANGED: it was $expected"; exit 1; }
echo "as found"
