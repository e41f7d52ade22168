#!/usr/bin/env bash
# Guess: goyang's tree of a module is the module after `uses` and its `refine`: default, mandatory and description as
#        refined (RFC 7950, 7.13.2).
# Seen:  refine is parsed and has no effect: the leaf keeps the grouping's default of 10 where 40 is refined, and is
#        not mandatory where it should be. No error is returned. What ygot generates from it has the wrong default.
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

	"github.com/openconfig/goyang/pkg/yang"
)

const module = `module port {
  namespace "urn:port"; prefix p;
  grouping settings {
    leaf speed { type uint32; default 10; description "of any port"; }
    leaf mode { type string; }
  }
  container fabric {
    uses settings {
      refine speed { default 40; description "of a fabric port"; }
      refine mode { mandatory true; }
    }
  }
}`

func main() {
	ms := yang.NewModules()
	if err := ms.Parse(module, "port.yang"); err != nil {
		fmt.Println(err)
	}
	tree, errs := ms.GetModule("port")
	fabric := tree.Dir["fabric"]
	fmt.Printf("errors %d, speed's default %v, %q, mode is mandatory %t", len(errs), fabric.Dir["speed"].DefaultValues(),
		fabric.Dir["speed"].Description, fabric.Dir["mode"].Mandatory.Value())
}
GO
same "refined to 40, of a fabric port, mandatory" "$(go run .)" \
  'errors 0, speed'"'"'s default [10], "of any port", mode is mandatory false'
