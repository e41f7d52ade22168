#!/usr/bin/env bash
# Guess: a path with [key=*] means all entries where ytypes writes, as for GetNode with GetHandleWildcards, or is
#        refused.
# Seen:  SetNode makes an entry whose name is "*", which is valid; DeleteNode deletes the entry of that name and, where
#        there is none, nothing. UnmarshalSetRequest does the same. None returns an error.
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
	"maps"
	"slices"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/ygot/integration_tests/schemaops/ctestschema"
	"github.com/openconfig/ygot/ygot"
	"github.com/openconfig/ygot/ytypes"
)

func main() {
	schema, err := ctestschema.Schema()
	if err != nil {
		log.Fatal(err)
	}
	device := schema.Root.(*ctestschema.Device)
	device.GetOrCreateUnorderedList("eth1").Value = ygot.String("old")
	device.GetOrCreateUnorderedList("eth2").Value = ygot.String("old")
	show := func(what string, err error) {
		fmt.Print(what, ": ", err)
		for _, name := range slices.Sorted(maps.Keys(device.UnorderedList)) {
			fmt.Printf(" %s=%s", name, device.UnorderedList[name].GetValue())
		}
		fmt.Println(", valid:", device.Validate() == nil)
	}
	entries, err := ygot.StringToStructuredPath("/unordered-lists/unordered-list[key=*]")
	if err != nil {
		log.Fatal(err)
	}
	leaf, err := ygot.StringToStructuredPath("/unordered-lists/unordered-list[key=*]/config/value")
	if err != nil {
		log.Fatal(err)
	}
	value := &pb.TypedValue{Value: &pb.TypedValue_StringVal{StringVal: "new"}}

	found, err := ytypes.GetNode(schema.RootSchema(), device, entries, &ytypes.GetHandleWildcards{})
	fmt.Println("get:", len(found), err)
	show("delete", ytypes.DeleteNode(schema.RootSchema(), device, entries))
	show("delete in a request", ytypes.UnmarshalSetRequest(schema, &pb.SetRequest{Delete: []*pb.Path{entries}}))
	show("update in a request",
		ytypes.UnmarshalSetRequest(schema, &pb.SetRequest{Update: []*pb.Update{{Path: leaf, Val: value}}}))
	show("delete", ytypes.DeleteNode(schema.RootSchema(), device, entries))
	show("set", ytypes.SetNode(schema.RootSchema(), device, leaf, value, &ytypes.InitMissingElements{}))
}
GO
go mod tidy 2>/dev/null
same "at [key=*] of eth1 and eth2" "$(go run .)" "get: 2 <nil>
delete: <nil> eth1=old eth2=old, valid: true
delete in a request: <nil> eth1=old eth2=old, valid: true
update in a request: <nil> *=new eth1=old eth2=old, valid: true
delete: <nil> eth1=old eth2=old, valid: true
set: <nil> *=new eth1=old eth2=old, valid: true"
