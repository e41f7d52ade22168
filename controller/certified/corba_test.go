package certified

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"lightloom/pathmap/tries"
)

// lasts are the algorithms for the time of the last flow.
func lasts() map[string]func(*Instance, Effort) (*Plan, error) {
	return map[string]func(*Instance, Effort) (*Plan, error){"corba": CoRBA, "fast": CoRBAFast,
		"greedy": CoRBAGreedy,
		"best":   CoRBABest}
}

// TestCoRBAAgainstExhaustive: on tiny instances every plan verifies, no bound, the threshold bound
// included, is above the optimum over all unsplit routings, and no plan is below it.
func TestCoRBAAgainstExhaustive(t *testing.T) {
	ratio, n, tighter := map[string]float64{}, 0.0, 0
	for seed := range uint64(tries.Of(100, 2000)) {
		in, all := tiny(rand.New(rand.NewPCG(seed, 6)))
		want := best(in, all, func(paths [][]int32) float64 {
			_, last, err := in.Makespan(paths)
			if err != nil {
				t.Fatal(err)
			}
			return last
		})
		n++
		for name, algorithm := range lasts() {
			p, err := algorithm(in, Effort{})
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			if err := p.VerifyLast(in); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			if p.Bound > want*(1+1e-6) || p.Value < want*(1-1e-6) {
				t.Fatalf("seed %d: %s has %v and proves %v, the optimum is %v", seed, name, p.Value, p.Bound, want)
			}
			if name == "best" && p.Threshold > 0 {
				tighter++
			}
			if want > 0 {
				ratio[name] += p.Value / want
			} else {
				ratio[name]++
			}
		}
	}
	t.Logf("%v instances, the threshold bound is higher in %d", n, tighter)
	for name, sum := range ratio {
		t.Logf("%s: %.4f of the optimum", name, sum/n)
	}
	if ratio["best"]/n > 1.05 || tighter == 0 {
		t.Errorf("best: %.4f of the optimum, %d threshold bounds", ratio["best"]/n, tighter)
	}
}

// TestRelaxAgainstGonum: CoS-Relax has the value that gonum's dense simplex finds with all simple paths
// listed.
func TestRelaxAgainstGonum(t *testing.T) {
	tried := 0
	for seed := range uint64(tries.Of(100, 1000)) {
		in, all := tiny(rand.New(rand.NewPCG(seed, 7)))
		want, err := relaxDense(in, all)
		if err != nil {
			continue // gonum gives up on singular bases
		}
		tried++
		got, err := in.Relax(Effort{Gap: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Value-want) > 1e-5*(1+want) || got.Bound > got.Value*(1+1e-9) {
			t.Fatalf("seed %d: %v, bound %v, gonum has %v", seed, got.Value, got.Bound, want)
		}
	}
	if tried < 50 {
		t.Errorf("only %d instances were compared", tried)
	}
}

// TestLimitAgainstRelax: the relaxation that only decides whether flows can end by a time decides as
// the whole one does over the paths that are left, whatever paths it begins with.
func TestLimitAgainstRelax(t *testing.T) {
	yes, no := 0, 0
	for seed := range uint64(tries.Of(200, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 11))
		in, all := tiny(rng)
		whole, err := in.Relax(Effort{})
		if err != nil {
			t.Fatal(err)
		}
		limit := whole.Value * (0.9 + rng.Float64())
		few, left := *in, make(Candidates, len(all))
		for i, paths := range all {
			for _, p := range paths {
				if narrowest(p, in.Capacity)*limit >= in.Volume[i] {
					left[i] = append(left[i], p)
				}
			}
		}
		few.Router = left
		want := true
		if slow, err := few.Relax(Effort{Gap: 1e-9}); err != nil || slow.Value > limit*(1+1e-6) {
			want = false
		} else if slow.Value > limit*(1-1e-6) {
			continue // too close to call
		}
		got, err := in.relax(limit, whole.Paths, Effort{Gap: 1e-9})
		if can := err == nil && got.Bound <= limit; can != want && limit > 0 {
			t.Fatalf("seed %d: %v can be kept: %v, want %v: %v", seed, limit, can, want, err)
		}
		if want {
			yes++
		} else {
			no++
		}
	}
	if yes < 20 || no < 20 {
		t.Errorf("%d limits can be kept and %d cannot: the test shows little", yes, no)
	}
}

func relaxDense(in *Instance, all [][][]int32) (value float64, err error) {
	var flows []int
	n := 1
	for i, v := range in.Volume {
		if v > 0 {
			flows = append(flows, i)
			n += len(all[i])
		}
	}
	if len(flows) == 0 {
		return 0, errors.New("nothing to send")
	}
	// The most that all flows can have together, as a multiple of their volumes; its inverse is the time.
	links, rows := len(in.Capacity), len(flows)+len(in.Capacity)
	a, b, c := mat.NewDense(rows, n+rows, nil), make([]float64, rows), make([]float64, n+rows)
	c[0] = -1
	at := 1
	for k, i := range flows {
		a.Set(k, 0, in.Volume[i])
		a.Set(k, n+k, 1)
		b[k] = 1e-9 * float64(k+1) // gonum's method cycles where these are all zero
		for _, p := range all[i] {
			a.Set(k, at, -1)
			for _, l := range p {
				a.Set(len(flows)+int(l), at, 1)
			}
			at++
		}
	}
	for l := range links {
		a.Set(len(flows)+l, n+len(flows)+l, 1)
		b[len(flows)+l] = in.Capacity[l]
	}
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("gonum panics")
		}
	}()
	value, _, err = lp.Simplex(c, a, b, 1e-12, nil)
	return -1 / value, err
}

// TestFigure42: three flows of which each alone is best off on the wide path they share. Shares alike
// end last, shares by volume earlier, and routes chosen together earliest. The figure's capacities are
// in its picture only; these are inferred: volumes 4, 2 and 2, a shared path of 4 and detours of 2.
func TestFigure42(t *testing.T) {
	in := &Instance{Volume: []float64{4, 2, 2}, Capacity: []float64{4, 2, 2},
		Router: Candidates{{{0}}, {{0}, {1}}, {{0}, {2}}}}
	shared := [][]int32{{0}, {0}, {0}}
	fair := 4 / (4. / 3) // flow 0 gets a third of the shared path: 3
	_, byVolume, err := in.Makespan(shared)
	if err != nil {
		t.Fatal(err)
	}
	p, err := CoRBA(in, Effort{})
	if err != nil || p.VerifyLast(in) != nil {
		t.Fatal(err, p)
	}
	if fair != 3 || byVolume != 2 || p.Value != 1 || p.Gap() > 1e-3 {
		t.Errorf("fair %v, by volume %v, together %v with gap %v; want 3, 2 and 1", fair, byVolume,
			p.Value, p.Gap())
	}
}

// TestMinCCT: over all candidates it verifies, and each kind keeps what its name says.
func TestMinCCT(t *testing.T) {
	c := Candidates{{{0, 1, 2}, {3}, {4}}}
	width := []float64{9, 9, 9, 1, 2}
	for kind, want := range map[Kind]int32{ShortestPaths: 3, WidestPaths: 0, ShortestWidestPaths: 4} {
		if got := c.Best(kind, 1, width)[0][0][0]; got != want {
			t.Errorf("kind %d: path of link %d, want %d", kind, got, want)
		}
	}
	for seed := range uint64(30) {
		in, all := tiny(rand.New(rand.NewPCG(seed, 8)))
		for kind := range ShortestWidestPaths + 1 {
			few := *in
			few.Router = Candidates(all).Best(kind, 5, in.Capacity)
			p, err := MinCCT(in, few.Router.(Candidates), Effort{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.VerifyLast(in); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

func BenchmarkCoRBA(b *testing.B) {
	in := fatTree(rand.New(rand.NewPCG(1, 5)), 14, 2, 100, false)
	for name, algorithm := range lasts() {
		b.Run(name+"/1617_nodes_100_flows", func(b *testing.B) {
			var p *Plan
			for b.Loop() {
				var err error
				if p, err = algorithm(in, Effort{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*p.Gap(), "%gap")
			b.ReportMetric(p.Value, "cct_s")
		})
	}
}
