package pathmap

import (
	"math"
	"math/bits"
	"strconv"
	"time"
)

// BitsPerSecond is a rate or a capacity, counted at layer 2 unless a comment says otherwise.
type BitsPerSecond int64

// Decimal multiples, as link rates are sold.
const (
	Kbps BitsPerSecond = 1e3
	Mbps BitsPerSecond = 1e6
	Gbps BitsPerSecond = 1e9
)

// Bytes is an amount of data.
type Bytes int64

// MaxDuration is what Over returns if the true duration does not fit: about 292 years.
const MaxDuration = time.Duration(math.MaxInt64)

// Over returns the time that b bytes take at rate r, rounded up to the nanosecond, so that a transfer
// never ends before its last bit. Zero bytes take no time; a rate of zero or below takes MaxDuration.
//
// bytes × 8 × 10⁹ overflows 64 bits above about 1.15 GB, so the product is carried in 128.
func (b Bytes) Over(r BitsPerSecond) time.Duration {
	switch {
	case b <= 0:
		return 0
	case r <= 0:
		return MaxDuration
	}
	hi, lo := bits.Mul64(uint64(b), 8e9)
	if hi >= uint64(r) {
		return MaxDuration
	}
	q, rem := bits.Div64(hi, lo, uint64(r))
	if rem > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return MaxDuration
	}
	return time.Duration(q)
}

// In returns the whole bytes that rate r carries in d, rounded down; math.MaxInt64 where the true
// number does not fit.
func (r BitsPerSecond) In(d time.Duration) Bytes {
	if r <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	if hi >= 8e9 {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, 8e9)
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return Bytes(q)
}

// About writes the rate to three digits, for people: "6Gbps" of 5999999994bps, a sum of rounded parts.
func (r BitsPerSecond) About() string {
	for _, u := range []struct {
		of   BitsPerSecond
		name string
	}{{Gbps, "Gbps"}, {Mbps, "Mbps"}, {Kbps, "Kbps"}} {
		if r >= u.of-u.of/2000 {
			rounded, _ := strconv.ParseFloat(strconv.FormatFloat(float64(r)/float64(u.of), 'g', 3, 64), 64)
			return strconv.FormatFloat(rounded, 'f', -1, 64) + u.name
		}
	}
	return r.String()
}

// String writes the rate with the largest decimal unit that keeps it whole: "10Gbps", "1500Mbps", "7bps".
// The spec parser of package topo reads it back.
func (r BitsPerSecond) String() string {
	switch {
	case r != 0 && r%Gbps == 0:
		return strconv.FormatInt(int64(r/Gbps), 10) + "Gbps"
	case r != 0 && r%Mbps == 0:
		return strconv.FormatInt(int64(r/Mbps), 10) + "Mbps"
	case r != 0 && r%Kbps == 0:
		return strconv.FormatInt(int64(r/Kbps), 10) + "Kbps"
	}
	return strconv.FormatInt(int64(r), 10) + "bps"
}
