package certified

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// general is a program that a general solver answers too, so that their times can be compared.
type general struct {
	name         string
	ours, theirs func() (float64, error)
	within       float64 // how far the answers may be apart
}

// BenchmarkGeneral is the relaxations and the rates of given routes beside gonum's general solvers, in
// the same run: its dense simplex on all columns, and BFGS on the dual of the rates. Both must have the
// same value. Gonum's simplex takes minutes on the document's sizes, so these are smaller.
func BenchmarkGeneral(b *testing.B) {
	for _, g := range generals() {
		b.Run(g.name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				began := time.Now()
				have, err := g.ours()
				if err != nil {
					b.Fatal(err)
				}
				ours += time.Since(began)
				began = time.Now()
				want, err := g.theirs()
				if err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(began)
				if math.Abs(have-want) > g.within*want {
					b.Fatalf("%v, and gonum has %v", have, want)
				}
			}
			b.ReportMetric(ours.Seconds()*1e3/float64(b.N), "ms/ours")
			b.ReportMetric(theirs.Seconds()*1e3/float64(b.N), "ms/gonum")
			b.ReportMetric(float64(theirs)/float64(ours), "times")
		})
	}
}

// TestGeneral is BenchmarkGeneral's comparison of values, on the smallest of each kind.
func TestGeneral(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, g := range generals() {
		if kinds[g.name[:4]] {
			continue
		}
		kinds[g.name[:4]] = true
		have, err := g.ours()
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		want, err := g.theirs()
		if err != nil || math.Abs(have-want) > g.within*want {
			t.Errorf("%s: %v, and gonum has %v, %v", g.name, have, want, err)
		}
	}
}

func generals() []general {
	var out []general
	for _, size := range []struct {
		name        string
		tasks, pods int
	}{{"TaPRA/5_tasks_16_servers", 5, 4}, {"TaPRA/10_tasks_16_servers", 10,
		4}, {"TaPRA/10_tasks_54_servers", 10, 6}} {
		job := documented(rand.New(rand.NewPCG(3, 9)), size.tasks, size.pods, true)
		out = append(out, general{size.name, func() (float64, error) {
			p, err := job.begin()
			if err != nil {
				return 0, err
			}
			r, err := p.relax(Effort{Gap: 1e-6})
			if err != nil {
				return 0, err
			}
			return job.Bound(r.price, r.energyPrice), nil
		}, func() (float64, error) { return placesDense(job) }, 1e-3})
	}
	for _, size := range []struct {
		name  string
		flows int
	}{{"CoRBA/5_flows_52_nodes", 5}, {"CoRBA/10_flows_52_nodes", 10}} {
		in := fatTree(rand.New(rand.NewPCG(1, 5)), 4, 2, size.flows, false)
		for i := range in.Volume { // gonum's tolerances are absolute
			in.Volume[i] /= 1e12
		}
		for l := range in.Capacity {
			in.Capacity[l] /= 1e10
		}
		g := in.Router.(*Graph)
		var all Candidates
		for _, e := range g.ends {
			all = append(all, simplePaths(g.arcs, e[0], e[1], 6, map[int32]bool{}))
		}
		in.Router = all
		out = append(out, general{size.name, func() (float64, error) {
			r, err := in.Relax(Effort{Gap: 1e-6})
			if err != nil {
				return 0, err
			}
			return r.Value, nil
		}, func() (float64, error) { return relaxDense(in, all) }, 1e-3})
	}
	for _, size := range []struct {
		name     string
		k, flows int
	}{{"rates/30_flows_153_nodes", 6, 30}, {"rates/90_flows_1617_nodes", 14, 90}} {
		in := fatTree(rand.New(rand.NewPCG(1, 5)), size.k, 2, size.flows, false)
		paths := in.Greedy()
		out = append(out, general{size.name, func() (float64, error) {
			a, err := in.Total(paths)
			if err != nil {
				return 0, err
			}
			return a.Value, nil
		}, func() (float64, error) { return ratesDual(in, paths) }, 1e-4})
	}
	return out
}

// placesDense is SJS-Relax-LP with all columns listed, by gonum's dense simplex: the most of all tasks
// that can be done in a unit of time, if the energy of a whole job is kept; its inverse is the time.
func placesDense(t *Tasks) (value float64, err error) {
	p, err := t.begin()
	if err != nil {
		return 0, err
	}
	n, m, servers := len(t.Load), len(t.Limits), len(p.in)
	rows := n + m + 1
	a, b, c := mat.NewDense(rows, 1+n*servers+rows, nil), make([]float64, rows), make([]float64,
		1+n*servers+rows)
	c[0] = -1
	for i := range n {
		a.Set(i, 0, 1) // a task is done as often as all are
		b[i] = 1e-9 * float64(i+1)
		for s := range servers {
			w, at := p.work(i, int32(s)), 1+i*servers+s
			a.Set(i, at, -1)
			for _, k := range p.in[s] {
				a.Set(n+int(k), at, w/t.Limits[k].Most)
			}
			a.Set(n+m, at, t.power(i)*w/t.Energy)
		}
	}
	for k := range m {
		b[n+k] = 1
	}
	a.Set(n+m, 0, -1) // the energy of as many jobs
	b[n+m] = 1e-9 * float64(n+1)
	for r := range rows {
		a.Set(r, 1+n*servers+r, 1)
	}
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("gonum panics")
		}
	}()
	value, _, err = lp.Simplex(c, a, b, 1e-12, nil)
	return -1 / value, err
}

// ratesDual is OptBA-TTT by gonum's BFGS on its dual, whose prices are squares so that nothing binds
// them: flows pay 2√(volume·price) at least, less what links are worth.
func ratesDual(in *Instance, paths [][]int32) (float64, error) {
	of, links := map[int32]int{}, []int32(nil)
	for _, p := range paths {
		for _, l := range p {
			if _, has := of[l]; !has {
				of[l], links = len(links), append(links, l)
			}
		}
	}
	const volume, speed = 1e12, 1e10 // units
	price := func(z []float64, p []int32) (sum float64) {
		for _, l := range p {
			sum += z[of[l]] * z[of[l]]
		}
		return sum
	}
	x := make([]float64, len(links))
	for i := range x {
		x[i] = 1
	}
	r, err := optimize.Minimize(optimize.Problem{
		Func: func(z []float64) (sum float64) {
			for i, l := range links {
				sum += in.Capacity[l] / speed * z[i] * z[i]
			}
			for i, p := range paths {
				sum -= 2 * math.Sqrt(in.Volume[i]/volume*price(z, p))
			}
			return sum
		},
		Grad: func(grad, z []float64) {
			for i, l := range links {
				grad[i] = 2 * in.Capacity[l] / speed * z[i]
			}
			for i, p := range paths {
				slope := math.Sqrt(in.Volume[i] / volume / price(z, p))
				for _, l := range p {
					grad[of[l]] -= 2 * slope * z[of[l]]
				}
			}
		},
	}, x, &optimize.Settings{GradientThreshold: 1e-6, MajorIterations: 20_000}, &optimize.BFGS{})
	if r == nil {
		return 0, err
	}
	return -r.F * volume / speed, nil // where its line search can go no further the value says how far it came
}
