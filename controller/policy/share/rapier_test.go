package share

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestRapier: times are found anew on what is left, and what has sent nothing for long comes first.
func TestRapier(t *testing.T) {
	// The first ends first, and takes half of port 0; the second is smaller than the third, but ends later
	// over what is left of that port.
	meet := [][]flow{{{0, 5, 2}, {3, 5, 2}}, {{0, 4, 5}}, {{2, 4, 6}}}
	waits := func(v *controller.View) {
		v.Now += Privilege
		v.Coflows[0].Remaining.Base[0], v.Coflows[2].Remaining.Base[0] = 1e6, 1e6
	}
	for _, tc := range []struct {
		name   string
		part   *Ordered
		change func(*controller.View)
		want   []string
	}{
		{"by what is left", NewRapier(), nil, []string{"32 ms", "holds", "48 ms"}},
		{"sebf goes by the whole", NewSEBF(), nil, []string{"32 ms", "80 ms", "96 ms"}},
		{"what has waited comes first", NewRapier(), waits, []string{"holds +1:1000", "40 ms", "holds"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := crossbar(t, meet...)
			if tc.change != nil {
				tc.change(v)
			}
			if got := say(t, tc.part, v); !slices.Equal(got, tc.want) {
				t.Errorf("says %q, want %q", got, tc.want)
			}
		})
	}
}

// TestRapierReference: the order is that of finding all times anew after each choice.
func TestRapierReference(t *testing.T) {
	for seed := range tries.Of[uint64](200, 2000) {
		r := rand.New(rand.NewPCG(seed, 12))
		var flows [][]flow
		for range 2 + r.IntN(8) {
			c := []flow{{southbound.HostID(r.IntN(3)), 3, 1 + pathmap.Bytes(r.IntN(20))}}
			for dst := southbound.HostID(4); dst < 6; dst++ {
				if r.IntN(2) == 0 {
					c = append(c, flow{southbound.HostID(r.IntN(3)), dst, 1 + pathmap.Bytes(r.IntN(20))})
				}
			}
			if r.IntN(2) == 0 {
				c = c[len(c)-1:]
			}
			flows = append(flows, c)
		}
		v, o, rank := crossbar(t, flows...), NewRapier(), &rapier{}
		var plan controller.Plan
		o.start(v, &plan)
		g := &o.topologyContext
		all := slices.Clone(o.demands(v, nil))
		rest, want := slices.Clone(all), []southbound.CoflowID(nil)
		rank.free = slices.Clone(g.free)
		for len(rest) > 0 {
			at, least := 0, math.Inf(1)
			for i := range rest {
				if s := rank.ends(g, &rest[i]); s < least {
					at, least = i, s
				}
			}
			for _, l := range rest[at].loads {
				if !math.IsInf(least, 1) {
					rank.free[l.link] = max(0, rank.free[l.link]-l.bits/least)
				}
			}
			want = append(want, rest[at].c.ID)
			rest = slices.Delete(rest, at, at+1)
		}
		o.order.rank(g, all)
		for i := range all {
			if all[i].c.ID != want[i] {
				t.Fatalf("seed %d: place %d has coflow %d, want %v", seed, i, all[i].c.ID, want)
			}
		}
	}
}
