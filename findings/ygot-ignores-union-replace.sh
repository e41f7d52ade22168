#!/usr/bin/env bash
# Guess: ytypes.UnmarshalSetRequest applies all four parts of a gNMI SetRequest, or returns an error for one that it
#        does not know.
# Seen:  union_replace is passed over and nil is returned: the tree stays as it was, and a device that is built on it
#        answers OK. The same content as replace takes effect.
# With:  ygot 0.29.20, openconfig/gnmi 0.14.1.
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
	"log"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/ygot/integration_tests/schemaops/ctestschema"
	"github.com/openconfig/ygot/ygot"
	"github.com/openconfig/ygot/ytypes"
)

func main() {
	whole := []*pb.Update{{Path: &pb.Path{}, Val: &pb.TypedValue{Value: &pb.TypedValue_JsonIetfVal{
		JsonIetfVal: []byte(`{"ctestschema:other-data":{"config":{"motd":"new"}}}`)}}}}
	for _, set := range []*pb.SetRequest{{UnionReplace: whole}, {Replace: whole}} {
		schema, err := ctestschema.Schema()
		if err != nil {
			log.Fatal(err)
		}
		device := schema.Root.(*ctestschema.Device)
		device.GetOrCreateOtherData().Motd = ygot.String("old")
		device.GetOrCreateUnorderedList("eth1").Value = ygot.String("old")
		err = ytypes.UnmarshalSetRequest(schema, set)
		fmt.Printf("%v, %s and %d entries; ", err, device.OtherData.GetMotd(), len(device.UnorderedList))
	}
}
GO
go mod tidy 2>/dev/null
same "union_replace, replace" "$(go run .)" "<nil>, old and 1 entries; <nil>, new and 0 entries; "
