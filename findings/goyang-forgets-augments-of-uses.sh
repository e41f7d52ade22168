#!/usr/bin/env bash
# Guess: goyang's tree of a module is the module after `uses` and the augment within it (RFC 7950, 7.17): what the
#        augment adds is there.
# Seen:  it is not, and no error is returned: port/state has what the grouping has and no `power`, though it is
#        mandatory. Two augments in one uses, valid too, are refused as "augment: already set". An augment of the
#        module by path is applied.
# With:  goyang 1.6.3.
set -euo pipefail
modules=(github.com/openconfig/goyang@v1.6.3)

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
	"maps"
	"slices"

	"github.com/openconfig/goyang/pkg/yang"
)

// module is a port of a switch with state of the grouping, and more of it by augment.
func module(augments string) string {
	return `module port {
  namespace "urn:port"; prefix p;
  grouping common {
    container config { leaf name { type string; } }
    container state { leaf name { type string; } }
  }
  container port { uses common { ` + augments + ` } }
  augment /p:port/p:state { leaf by-path { type string; } }
}`
}

func main() {
	for _, augments := range []string{
		"",
		"augment state { leaf power { type int32; mandatory true; } }",
		"augment state { leaf power { type int32; } } augment config { leaf gain { type int32; } }",
	} {
		ms := yang.NewModules()
		if err := ms.Parse(module(augments), "port.yang"); err != nil {
			fmt.Println("refused:", err)
			continue
		}
		tree, errs := ms.GetModule("port")
		fmt.Println("errors", len(errs), slices.Sorted(maps.Keys(tree.Dir["port"].Dir["state"].Dir)))
	}
}
GO
same "leaves of state with no augment, one and two" "$(go run .)" "errors 0 [by-path name]
errors 0 [by-path name]
refused: augment: already set"
