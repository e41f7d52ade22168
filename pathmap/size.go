package pathmap

import (
	"fmt"
	"math/big"
	"strings"
)

// sizeUnits are the units that ParseBytes reads, decimal and binary; a longer name comes before its ending.
var sizeUnits = [...]struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB",
	1e9}, {"MB", 1e6},
	{"KB", 1e3}, {"kB", 1e3}, {"B", 1}}

// ParseBytes reads an amount of data: a decimal number and one of B, kB, MB, GB, TB (powers of 1000),
// KiB, MiB, GiB and TiB (of 1024), as in "100MB". It must be a whole number of bytes, not negative, and
// fit an int64.
func ParseBytes(s string) (Bytes, error) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		if !isDecimal(number) {
			return 0, fmt.Errorf("%q is no size: write a number and a unit, such as 10%s", s, u.name)
		}
		r, _ := new(big.Rat).SetString(number)
		r.Mul(r, big.NewRat(u.bytes, 1))
		switch {
		case !r.IsInt():
			return 0, fmt.Errorf("%q is not a whole number of bytes: leave digits out", s)
		case !r.Num().IsInt64():
			return 0, fmt.Errorf("%q is larger than any size: write a smaller number", s)
		}
		return Bytes(r.Num().Int64()), nil
	}
	return 0, fmt.Errorf("%q has no unit of size: write B, kB, MB, GB or TB, as in 100MB", s)
}
