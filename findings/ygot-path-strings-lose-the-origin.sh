#!/usr/bin/env bash
# Guess: ygot.PathToString of a gNMI path tells paths apart: two of other origins or targets have other strings, and
#        StringToStructuredPath gives back what went in.
# Seen:  origin and target are left out without an error. /CONFIG_DB of sonic-db at one switch and of openconfig at
#        another are one string, which is no key for a map; the path that comes back has neither.
# With:  ygot 0.29.20.
set -euo pipefail
modules=(github.com/openconfig/ygot@v0.29.20 github.com/openconfig/gnmi@v0.14.1)

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

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/ygot/ygot"
)

func main() {
	for _, p := range []*pb.Path{
		{Origin: "sonic-db", Target: "tor1", Elem: []*pb.PathElem{{Name: "CONFIG_DB"}}},
		{Origin: "openconfig", Target: "tor2", Elem: []*pb.PathElem{{Name: "CONFIG_DB"}}},
	} {
		s, err := ygot.PathToString(p)
		if err != nil {
			fmt.Println(err)
		}
		back, err := ygot.StringToStructuredPath(s)
		fmt.Printf("%s: %q %q %v; ", s, back.GetOrigin(), back.GetTarget(), err)
	}
}
GO
go mod tidy 2>/dev/null
same "two paths" "$(go run .)" '/CONFIG_DB: "" "" <nil>; /CONFIG_DB: "" "" <nil>; '
