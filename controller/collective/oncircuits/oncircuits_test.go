package oncircuits

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller/collective"
	"lightloom/controller/collective/collectivetest"
	"lightloom/controller/topoeng"
	"lightloom/pathmap"
)

// problem draws one: random circuits stand.
func problem(kind collective.Kind, pods, switches int, data pathmap.Bytes, seed uint64) *Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &Problem{Kind: kind, Data: data, Standing: random(pods, switches, rng), Rate: 400 * pathmap.Gbps,
		Latency: 5 * time.Microsecond, Delta: 20 * time.Microsecond}
}

// TestTogether: never behind the best of choosing each alone, never below the bound, and every schedule replayed.
func TestTogether(t *testing.T) {
	ahead := 0
	for seed := range uint64(3) { // a ring stands, pairs, random circuits
		for _, kind := range []collective.Kind{collective.KindAllGather, collective.KindReduceScatter,
			collective.KindAllToAll} {
			for _, data := range []pathmap.Bytes{16 << 10, 1 << 20} {
				p := problem(kind, 12, 4, data, seed)
				switch seed {
				case 0:
					p.Standing = p.ring()
				case 1:
					for _, out := range p.Standing.Out {
						for i := range out {
							out[i] = int32(i ^ 1)
						}
					}
				}
				ring, standing, err := Alone(p)
				if err != nil {
					t.Fatal(err)
				}
				both, err := Together(p, 10, rand.New(rand.NewPCG(seed, 2)))
				if err != nil {
					t.Fatal(err)
				}
				if standing == nil != (seed == 1) {
					t.Errorf("seed %d: standing circuits are %v", seed, standing)
				}
				alone, all := ring.Time, []Choice{ring, both}
				if standing != nil {
					alone, all = min(ring.Time, standing.Time), append(all, *standing)
				}
				for _, c := range all {
					if err := c.Circuits.Check(); err != nil {
						t.Error(err)
					}
					if err := collectivetest.Check(c.Net, c.Schedule); err != nil {
						t.Errorf("%v: %v", kind, err)
					}
					if c.Time < p.Bound() {
						t.Errorf("%v of %d bytes ends at %v, before the bound of %v", kind, data, c.Time, p.Bound())
					}
				}
				t.Logf("%v, %d bytes: alone %v, together %v, bound %v", kind, data, alone, both.Time, p.Bound())
				if both.Time > alone {
					t.Errorf("%v of %d bytes: together it ends at %v, alone at %v", kind, data, both.Time, alone)
				}
				if both.Time < alone {
					ahead++
				}
			}
		}
	}
	if ahead < 12 {
		t.Errorf("choosing together is ahead in %d of the 12 in which no random circuits stand", ahead)
	}
}

// TestTinyTogether: on four racks and two switches, all circuits are tried.
func TestTinyTogether(t *testing.T) {
	for _, kind := range []collective.Kind{collective.KindAllGather, collective.KindAllToAll} {
		p := problem(kind, 4, 2, 1<<20, 1)
		best := pathmap.MaxDuration
		for _, a := range derangements(4) {
			for _, b := range derangements(4) {
				top := topoeng.NewTopology(4, 2)
				copy(top.Out[0], a)
				copy(top.Out[1], b)
				if c, ok := p.choose(top, p.plan()); ok {
					best = min(best, c.Time)
				}
			}
		}
		both, err := Together(p, 200, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		if both.Time != best {
			t.Errorf("%v: it ends at %v, and the best of all circuits at %v", kind, both.Time, best)
		}
	}
}

// derangements returns all ways to lead each of n racks to another one.
func derangements(n int) [][]int32 {
	var out [][]int32
	var extend func(row []int32)
	extend = func(row []int32) {
		if len(row) == n {
			out = append(out, append([]int32(nil), row...))
			return
		}
		for j := range int32(n) {
			taken := int(j) == len(row)
			for _, x := range row {
				taken = taken || x == j
			}
			if !taken {
				extend(append(row, j))
			}
		}
	}
	extend(nil)
	return out
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		spoil func(p *Problem)
		says  string
	}{
		{func(p *Problem) { p.Data = 0 }, "0 bytes"}, {func(p *Problem) { p.Delta = -1 }, "delay -1ns"},
		{func(p *Problem) { p.Standing = topoeng.NewTopology(1, 1) }, "1 racks"},
		{func(p *Problem) { p.Standing.Out[0][0] = 0 }, "leads to itself"},
	} {
		p := problem(collective.KindAllGather, 4, 2, 1, 1)
		tt.spoil(p)
		if _, err := Together(p, 1, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %s", err, tt.says)
		}
	}
}
