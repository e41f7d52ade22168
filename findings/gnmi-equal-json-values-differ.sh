#!/usr/bin/env bash
# Guess: value.Equal of two gNMI values that are byte for byte the same is true.
# Seen:  it is false for every JSON, JSON_IETF, ASCII, Any and protobuf value, even compared with itself: it compares
#        scalars and leaf-lists only. What skips unchanged values by it never skips those that devices send as JSON.
# With:  openconfig/gnmi 0.14.1.
set -euo pipefail
modules=(github.com/openconfig/gnmi@v0.14.1)

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
	"github.com/openconfig/gnmi/value"
	"google.golang.org/protobuf/proto"
)

func main() {
	for _, v := range []*pb.TypedValue{
		{Value: &pb.TypedValue_UintVal{UintVal: 1}},
		{Value: &pb.TypedValue_DoubleVal{DoubleVal: -3.5}},
		{Value: &pb.TypedValue_BytesVal{BytesVal: []byte("x")}},
		{Value: &pb.TypedValue_JsonVal{JsonVal: []byte("1")}},
		{Value: &pb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(`"1"`)}},
		{Value: &pb.TypedValue_AsciiVal{AsciiVal: "x"}},
		{Value: &pb.TypedValue_ProtoBytes{ProtoBytes: []byte{1}}},
	} {
		fmt.Printf("%T proto.Equal %t value.Equal %t\n", v.Value, proto.Equal(v, v), value.Equal(v, v))
	}
}
GO
go mod tidy 2>/dev/null
same "a value and itself" "$(go run . | sed 's/.*TypedValue_//')" "UintVal proto.Equal true value.Equal true
DoubleVal proto.Equal true value.Equal true
BytesVal proto.Equal true value.Equal true
JsonVal proto.Equal true value.Equal false
JsonIetfVal proto.Equal true value.Equal false
AsciiVal proto.Equal true value.Equal false
ProtoBytes proto.Equal true value.Equal false"
