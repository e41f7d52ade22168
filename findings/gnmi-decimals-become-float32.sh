#!/usr/bin/env bash
# Guess: value.ToScalar gives a decimal_val as a number that holds it, at least a float64, as it does for a double_val.
# Seen:  as a float32, of about seven digits, without an error: a counter of 1,234,567,890.12 reads 1,234,567,936, an
#        optical power of −3.27 is no longer equal to −3.27, and FromScalar of what was read sends the wrong digits on.
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
)

func main() {
	for _, d := range []*pb.Decimal64{{Digits: 123456789012, Precision: 2}, {Digits: -327, Precision: 2}} {
		got, err := value.ToScalar(&pb.TypedValue{Value: &pb.TypedValue_DecimalVal{DecimalVal: d}})
		if err != nil {
			fmt.Println(err)
		}
		back, err := value.FromScalar(got)
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%d / 10^%d: %T, sent on as %.17g\n", d.Digits, d.Precision, got, back.GetDoubleVal())
	}
	got, err := value.ToScalar(&pb.TypedValue{Value: &pb.TypedValue_DoubleVal{DoubleVal: 1234567890.12}})
	fmt.Printf("double 1234567890.12: %T %.2f %v\n", got, got, err)
}
GO
go mod tidy 2>/dev/null
same "decimals" "$(go run .)" "123456789012 / 10^2: float32, sent on as 1234567936
-327 / 10^2: float32, sent on as -3.2699999809265137
double 1234567890.12: float64 1234567890.12 <nil>"
