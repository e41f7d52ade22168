#!/usr/bin/env bash
# Guess: Unmarshal of RFC 7951 JSON takes a member only under the name of the module that defines it, so that
#        "vendor:motd" is no "ctestschema:motd", and is unexpected.
# Seen:  what stands before the colon is cut off and not looked at: a vendor's member of the same name is written into
#        the leaf without an error. Where both are there, one of them is lost in silence.
# With:  ygot 0.29.20.
set -euo pipefail
modules=(github.com/openconfig/ygot@v0.29.20)

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

	"github.com/openconfig/ygot/integration_tests/schemaops/ctestschema"
)

func main() {
	for _, content := range []string{
		`"ctestschema:motd": "own"`,
		`"vendor:motd": "vendor"`,
		`"ctestschema:motd": "own", "vendor:motd": "vendor"`,
		`"vendor:other": "vendor"`,
	} {
		device := &ctestschema.Device{}
		err := ctestschema.Unmarshal([]byte(`{"ctestschema:other-data": {"config": {`+content+`}}}`), device)
		fmt.Printf("%s: %q, %v\n", content, device.GetOrCreateOtherData().GetMotd(), err)
	}
}
GO
go mod tidy 2>/dev/null
same "members, and what the leaf is then" "$(go run .)" '"ctestschema:motd": "own": "own", <nil>
"vendor:motd": "vendor": "vendor", <nil>
"ctestschema:motd": "own", "vendor:motd": "vendor": "own", <nil>
"vendor:other": "vendor": "", parent container other-data (type *ctestschema.OtherData): JSON contains unexpected field'\
' other'
