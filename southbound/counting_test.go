package southbound_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestRater goes through what devices do to their counters.
func TestRater(t *testing.T) {
	const s = time.Second
	at := func(at time.Duration, in, out, drops uint64) southbound.PortCounters {
		return southbound.PortCounters{At: at, InOctets: in, OutOctets: out, OutDiscards: drops}
	}
	var none southbound.PortRate
	first := southbound.PortRate{In: 400, Out: 1600, Drops: 1, Span: 2 * s} // 100·8 bit, 400·8 bit and one packet in 2 s
	for _, tt := range []struct {
		name string
		in   []southbound.PortCounters
		want southbound.PortRate
	}{
		{"one sample", []southbound.PortCounters{at(0, 5, 5, 5)}, none},
		{"two", []southbound.PortCounters{at(0, 0, 0, 0), at(2*s, 100, 400, 1)}, first},
		{"the same twice", []southbound.PortCounters{at(0, 0, 0, 0), at(2*s, 100, 400, 1),
			at(2*s, 100, 400, 1)}, first},
		{"too soon", []southbound.PortCounters{at(0, 0, 0, 0), at(2*s, 100, 400, 1),
			at(2*s+1, 1000, 4000, 10)}, first},
		{"late", []southbound.PortCounters{at(0, 0, 0, 0), at(2*s, 100, 400, 1), at(1*s, 50, 200, 0)}, first},
		{"a reboot", []southbound.PortCounters{at(0, 90, 90, 0), at(2*s, 10, 100, 1)}, none},
		{"after a reboot", []southbound.PortCounters{at(0, 900, 900, 0), at(2*s, 0, 0, 0),
			at(4*s, 100, 400, 1)}, first},
		{"a clock set back", []southbound.PortCounters{at(90*s, 0, 0, 0), at(1*s, 10, 10, 0), at(2*s, 20, 20, 0),
			at(3*s, 0, 0, 0), at(5*s, 100, 400, 1)}, first},
		{"more than there is", []southbound.PortCounters{at(0, 0, 0, 0),
			at(time.Millisecond, math.MaxUint64, 0, 0)},
			southbound.PortRate{In: math.MaxInt64, Span: time.Millisecond}},
	} {
		var r southbound.Rater
		var got southbound.PortRate
		for _, c := range tt.in {
			got = r.Add(c)
		}
		if got != tt.want || r.Rate() != got {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestRaterAgainstReference: histories with reboots, duplicates and late samples, against one that
// looks for the last sample before each and reckons in whole numbers of any size.
func TestRaterAgainstReference(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		var rater southbound.Rater
		var kept []southbound.PortCounters
		var want southbound.PortRate
		c := southbound.PortCounters{At: time.Second}
		for range 40 {
			sample := c
			switch k := r.IntN(10); {
			case k == 0 && len(kept) > 0: // late, or the same again; never thrice in a row, see below
				sample = kept[r.IntN(len(kept))]
			case k == 1:
				c.At += time.Duration(1+r.IntN(1e9)) + time.Millisecond
				c.InOctets, c.OutOctets, c.OutDiscards = 0, uint64(r.IntN(3)), 0
				sample = c
			default:
				c.At += time.Duration(r.IntN(1e9)) + time.Millisecond
				c.InOctets += uint64(r.Int64N(1 << uint(1+r.IntN(45))))
				c.OutOctets += uint64(r.Int64N(1 << uint(1+r.IntN(45))))
				c.OutDiscards += uint64(r.IntN(5))
				sample = c
			}
			got := rater.Add(sample)
			if n := len(kept); n == 0 {
				kept = append(kept, sample)
			} else if old := kept[n-1]; sample.At > old.At {
				kept, want = append(kept, sample), slowRate(old, sample)
			} else {
				got2 := rater.Add(c) // what is newest comes again: nothing is late thrice in a row
				if got2 != want {
					t.Fatalf("seed %d: the newest again gives %+v, want %+v", seed, got2, want)
				}
			}
			if got != want {
				t.Fatalf("seed %d: %+v gives %+v, want %+v", seed, sample, got, want)
			}
		}
	}
}

func slowRate(a, b southbound.PortCounters) southbound.PortRate {
	if b.InOctets < a.InOctets || b.OutOctets < a.OutOctets || b.OutDiscards < a.OutDiscards {
		return southbound.PortRate{}
	}
	per := func(n uint64, each, more int64) int64 {
		x := new(big.Int).SetUint64(n)
		x.Mul(x, big.NewInt(each*1e9)).Add(x, big.NewInt(more*int64(b.At-a.At-1))).Div(x,
			big.NewInt(int64(b.At-a.At)))
		return x.Int64()
	}
	return southbound.PortRate{In: pathmap.BitsPerSecond(per(b.InOctets-a.InOctets, 8, 0)),
		Out:   pathmap.BitsPerSecond(per(b.OutOctets-a.OutOctets, 8, 0)),
		Drops: uint64(per(b.OutDiscards-a.OutDiscards, 1, 1)), Span: b.At - a.At}
}
