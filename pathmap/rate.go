package pathmap

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// rateUnits are the decimal multiples that ParseRate reads, by their small letter.
var rateUnits = [...]struct {
	letter string
	bits   int64
}{{"t", 1e12}, {"g", 1e9}, {"m", 1e6}, {"k", 1e3}, {"", 1}}

// ParseRate reads a rate: a decimal number and a unit as people write it: 10Gbps, 10gbps, 10Gb/s,
// 10Gbit/s, 10Gbit, 10Gb or 10G. It is the inverse of String. The rate must be a whole number of bits a
// second, not negative, and fit an int64. A capital B stands for bytes, which no rate is counted in
// here, so it is refused.
func ParseRate(s string) (BitsPerSecond, error) {
	number, unit := cutNumber(s)
	multiple, ok := rateUnit(unit)
	switch {
	case strings.Contains(unit, "B"):
		return 0, fmt.Errorf("%q counts bytes, and rates are in bits: write a number and a unit, such as 10Gbps", s)
	case !ok:
		return 0, fmt.Errorf("%q has no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps, as in 10Gbps", s)
	case !isDecimal(number):
		return 0, fmt.Errorf("%q is no rate: write a number and a unit, such as 10Gbps", s)
	}
	r, _ := new(big.Rat).SetString(number)
	r.Mul(r, big.NewRat(multiple, 1))
	switch {
	case !r.IsInt():
		return 0, fmt.Errorf("%q is not a whole number of bits a second: leave digits out", s)
	case !r.Num().IsInt64():
		return 0, fmt.Errorf("%q is larger than any rate: write a smaller number", s)
	}
	return BitsPerSecond(r.Num().Int64()), nil
}

// cutNumber splits a rate behind its last digit. One space can stand there.
func cutNumber(s string) (number, unit string) {
	at := strings.LastIndexAny(s, "0123456789") + 1
	return s[:at], strings.TrimPrefix(s[at:], " ")
}

// rateUnit returns how many bits a second a unit is. Without a letter for the multiple the word must be
// whole: 10b or 10bit would be an amount.
func rateUnit(unit string) (multiple int64, ok bool) {
	unit = strings.ToLower(unit)
	for _, u := range rateUnits {
		word, ok := strings.CutPrefix(unit, u.letter)
		switch {
		case !ok:
		case slices.Contains([]string{"bps", "b/s", "bit/s", "bits/s"}, word),
			u.letter != "" && slices.Contains([]string{"", "b", "bit", "bits"}, word):
			return u.bits, true
		}
	}
	return 0, false
}

// isDecimal reports whether s is digits, perhaps with one point between them, and short enough to be meant.
func isDecimal(s string) bool {
	whole, part, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(part)) && len(s) <= 32
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
