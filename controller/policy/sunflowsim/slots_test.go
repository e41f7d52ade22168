package sunflowsim

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestGlibcRandom: what rand of glibc 2.36 draws after srand(13).
func TestGlibcRandom(t *testing.T) {
	g := newGlibcRandom(13)
	for i, want := range []uint32{1358590890, 733184381, 1941561279, 279246991, 1306448764} {
		if got := g.next(); got != want {
			t.Errorf("draw %d is %d, want %d", i, got, want)
		}
	}
}

// TestSolsticeCarriesAll: on random demands every slot matches all ports of the stuffed matrix, lasts
// as long as some entry, and all slots together carry just what the busiest port has.
func TestSolsticeCarriesAll(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		racks := 2 + rng.IntN(8)
		left, most := map[link]int64{}, int64(0)
		rows, cols := make([]int64, racks), make([]int64, racks)
		for range 1 + rng.IntN(3*racks) {
			in, out := rng.IntN(racks), rng.IntN(racks)
			l := link{southbound.Port(in), southbound.Port(out)}
			if in == out || left[l] > 0 {
				continue
			}
			left[l] = 1 + rng.Int64N(1<<rng.IntN(40))
			rows[in] += left[l]
			cols[out] += left[l]
			most = max(most, rows[in], cols[out])
		}
		if len(left) == 0 {
			continue
		}
		m := stuff(racks, left, newGlibcRandom(uint32(seed)))
		sum := time.Duration(0)
		for _, s := range m.slices(&problem{rate: pathmap.Gbps}) {
			in, out := map[int]bool{}, map[int]bool{}
			for _, l := range s.links {
				in[int(l.in)], out[int(l.out)] = true, true
				left[l] -= int64(s.long)
			}
			if sum += s.long; s.long <= 0 || len(in) != len(m.in) || len(out) != len(m.out) {
				t.Fatalf("seed %d: a slot of %v joins %d inputs and %d outputs, want %d", seed, s.long,
					len(in), len(out),
					len(m.in))
			}
		}
		for l, bits := range left {
			if bits > 0 {
				t.Errorf("seed %d: %v has %d bits left", seed, l, bits)
			}
		}
		if sum != time.Duration(most) {
			t.Errorf("seed %d: slots last %v in all, the busiest port %v", seed, sum, time.Duration(most))
		}
	}
}

// TestOver: amounts of time and bits are exact where doubles are not, and bounded where they are absurd.
func TestOver(t *testing.T) {
	for _, tc := range []struct {
		bits int64
		rate pathmap.BitsPerSecond
		want time.Duration
	}{{0, pathmap.Gbps, 0}, {1<<53 + 1, 10 * pathmap.Gbps, 1<<53/10 + 1}, {59_436_832_729,
		pathmap.Gbps, 59_436_832_729},
		{1, 100 * pathmap.Gbps, 1}, {7, 3, 2_333_333_334}, {1 << 62, 1, longest}} {
		p := &problem{rate: tc.rate}
		if got := p.over(tc.bits); got != tc.want {
			t.Errorf("%d bits at %v take %v, want %v", tc.bits, tc.rate, got, tc.want)
		}
		if got := p.in(tc.want); tc.want < longest && (got < tc.bits || got-int64(tc.rate)/1e9-1 > tc.bits) {
			t.Errorf("%v at %v are %d bits, want %d", tc.want, tc.rate, got, tc.bits)
		}
	}
}

// TestLay: an order takes away what it needs the ports of, or with alone all that it does not name;
// what it names and stands goes on, and what is dark still when one plans anew begins again.
func TestLay(t *testing.T) {
	const ms = time.Millisecond
	a, b, c := link{0, 1}, link{0, 2}, link{3, 4}
	for _, tc := range []struct {
		alone bool
		lit   map[link]bool
	}{{false, map[link]bool{b: true, c: true}}, {true, map[link]bool{b: true}}} {
		all := lay(nil, []order{{0, []link{a, c}}, {50 * ms, []link{b}}}, 10*ms, tc.alone)
		if len(active(all, 5*ms)) != 0 || len(active(all, 10*ms)) != 2 {
			t.Errorf("alone %v: lit after 5 and 10 ms: %v, %v", tc.alone, active(all, 5*ms), active(all, 10*ms))
		}
		got := active(all, 60*ms)
		if len(got) != len(tc.lit) {
			t.Errorf("alone %v: lit in the end: %v", tc.alone, got)
		}
		for _, w := range got {
			if !tc.lit[w.link] {
				t.Errorf("alone %v: %v is lit in the end", tc.alone, w.link)
			}
		}
		again := lay(active(all, 55*ms), []order{{55 * ms, []link{b}}}, 10*ms, tc.alone)
		if last := again[len(again)-1]; last.link != b || last.lit != 65*ms {
			t.Errorf("alone %v: ordered again: %+v", tc.alone, last)
		}
	}
}
