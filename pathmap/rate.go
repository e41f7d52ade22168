package pathmap

import (
	"fmt"
	"math/big"
	"strings"
)

// rateUnits are the units that ParseRate reads. A capital K is what String writes; k is the SI's own.
var rateUnits = [...]struct {
	name string
	bits int64
}{{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"kbps", 1e3}, {"bps", 1}}

// ParseRate reads a rate: a decimal number and one of bps, Kbps, Mbps, Gbps and Tbps, as in "10Gbps" or "2.5Gbps". It
// is the inverse of String. The rate must be a whole number of bits a second, not negative, and fit an int64.
func ParseRate(s string) (BitsPerSecond, error) {
	for _, u := range rateUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		if !isDecimal(number) {
			return 0, fmt.Errorf("%q is no rate: write a number and a unit, such as 10%s", s, u.name)
		}
		r, _ := new(big.Rat).SetString(number)
		r.Mul(r, big.NewRat(u.bits, 1))
		switch {
		case !r.IsInt():
			return 0, fmt.Errorf("%q is not a whole number of bits a second: leave digits out", s)
		case !r.Num().IsInt64():
			return 0, fmt.Errorf("%q is larger than any rate: write a smaller number", s)
		}
		return BitsPerSecond(r.Num().Int64()), nil
	}
	return 0, fmt.Errorf("%q has no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps, as in 10Gbps", s)
}

// isDecimal reports whether s is digits, perhaps with one point between them, and short enough to be meant.
func isDecimal(s string) bool {
	whole, part, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(part)) && len(s) <= 32
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
