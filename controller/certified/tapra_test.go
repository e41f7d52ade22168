package certified

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/solve"
	"lightloom/pathmap/tries"
)

// placings are the algorithms that place tasks. The baselines are there with either sharing.
func placings() map[string]func(*Tasks, Effort) (*Placed, error) {
	type algorithm = func(*Tasks, Effort) (*Placed, error)
	all := map[string]algorithm{"tapra": TaPRA, "fast": TaPRAFast}
	for name, by := range map[string]Sharing{"": Proportional, equally: Equal} {
		drawn := func(s Search) algorithm {
			return func(t *Tasks, e Effort) (*Placed, error) { return s(t, e, rand.New(rand.NewPCG(1, 2))) }
		}
		all["minmin"+name] = func(t *Tasks, _ Effort) (*Placed, error) { return MinMin(t, by) }
		all["mm-ga"+name], all["gsa"+name] = drawn(MMGA(by)), drawn(GSA(by))
	}
	return all
}

const equally = ", equally"

// example is that of section 3.1.1: three servers of 35, 10 and 30 cores, the first two in one rack, at
// most 30 cores a rack, and tasks of 100, 200, 400 and 500.
func example() *Tasks {
	t := &Tasks{Load: []float64{100, 200, 400, 500}, Limits: []Limit{{"server 0", []int32{0}, 35},
		{"server 1", []int32{1}, 10}, {"server 2", []int32{2}, 30}, {"rack 0", []int32{0, 1}, 30},
		{"rack 1", []int32{2}, 30}}}
	for range t.Load {
		t.Efficiency = append(t.Efficiency, []float64{1, 1, 1})
	}
	return t
}

// TestExampleOfChapter3: schedule A gives the tasks of a server equal shares, 500/15 = 33.33; schedule
// B ends after (100+200+400+500)/60 = 20, which is optimal.
func TestExampleOfChapter3(t *testing.T) {
	job := example()
	a, err := job.begin()
	if err != nil {
		t.Fatal(err)
	}
	a.sharing = Equal
	for i, s := range []int32{0, 2, 0, 2} {
		a.put(i, s)
	}
	if got := a.result(); math.Abs(got.Value-500/15.) > 1e-9 || got.Verify(job) != nil {
		t.Fatalf("schedule A ends after %v: %v", got.Value, got.Verify(job))
	}
	for name, algorithm := range placings() {
		p, err := algorithm(job, Effort{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Verify(job); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %v, bound %v", name, p.Value, p.Bound)
		if name == "tapra" && (math.Abs(p.Value-20) > 1e-6 || p.Gap() > 1e-3) {
			t.Errorf("TaPRA ends after %v, bound %v, want 20", p.Value, p.Bound)
		}
	}
}

func randomTasks(rng *rand.Rand, tasks, servers int) *Tasks {
	t := &Tasks{}
	all := Limit{Name: "all", Most: float64(servers) * (3 + rng.Float64())}
	for s := range int32(servers) {
		t.Limits = append(t.Limits, Limit{"server", []int32{s}, 1 + 9*rng.Float64()})
		all.Servers = append(all.Servers, s)
	}
	t.Limits = append(t.Limits, all)
	least := 0.0
	for range tasks {
		t.Load = append(t.Load, math.Exp(rng.NormFloat64()))
		row, best := make([]float64, servers), 0.0
		for s := range row {
			row[s] = 0.1 + 0.9*rng.Float64()
			best = max(best, row[s])
		}
		t.Efficiency = append(t.Efficiency, row)
		least += t.Load[len(t.Load)-1] / best
	}
	if rng.IntN(3) > 0 {
		t.Energy = least * (1 + 0.1*rng.Float64())
	}
	return t
}

// TestTaPRAAgainstExhaustive: every placement verifies, and no bound is above the optimum over all
// placements.
func TestTaPRAAgainstExhaustive(t *testing.T) {
	ratio, full, n := map[string]float64{}, map[string]float64{}, 0.0
	for seed := range uint64(tries.Of(100, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		job := randomTasks(rng, 1+rng.IntN(4), 1+rng.IntN(4))
		if rng.IntN(3) == 0 {
			job.Slots = make([]int32, len(job.Efficiency[0]))
			for range len(job.Load) + rng.IntN(3) {
				job.Slots[rng.IntN(len(job.Slots))]++
			}
		}
		want := exhaustive(job)
		n++
		for name, algorithm := range placings() {
			p, err := algorithm(job, Effort{Trials: 500})
			if infeasible := new(solve.InfeasibleError); job.Slots != nil && errors.As(err, &infeasible) {
				full[name]++ // with few slots, energy may be kept by a placement that none of them looks at
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			if err := p.Verify(job); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			if p.Bound > want*(1+1e-6) || p.Value < want*(1-1e-6) {
				t.Fatalf("seed %d: %s has %v and proves %v, the optimum is %v", seed, name, p.Value, p.Bound, want)
			}
			if strings.HasSuffix(name, equally) {
				checkEqual(t, job, p)
			}
			ratio[name] += p.Value / want
		}
	}
	for name, sum := range ratio {
		t.Logf("%s: %.4f of the optimum, %v of %v refused", name, sum/(n-full[name]), full[name], n)
		if full[name] > n/5 {
			t.Errorf("%s: %v of %v refused", name, full[name], n)
		}
	}
}

// checkEqual checks that each task has the least of what its server's limits have for each of their tasks.
func checkEqual(t *testing.T, job *Tasks, p *Placed) {
	t.Helper()
	for i, s := range p.Server {
		want := math.Inf(1)
		for _, l := range job.Limits {
			if tasks := 0.; slices.Contains(l.Servers, s) {
				for _, other := range p.Server {
					if slices.Contains(l.Servers, other) {
						tasks++
					}
				}
				want = min(want, l.Most/tasks)
			}
		}
		if math.Abs(p.Resource[i]-want) > 1e-9*want {
			t.Fatalf("task %d has %v on server %d, want %v", i, p.Resource[i], s, want)
		}
	}
}

func exhaustive(job *Tasks) float64 {
	p, err := job.begin()
	if err != nil {
		return math.NaN()
	}
	least := math.Inf(1)
	var try func(i int)
	try = func(i int) {
		if i == len(job.Load) {
			if job.Energy == 0 || p.energy <= job.Energy*(1+1e-9) {
				least = min(least, p.last())
			}
			return
		}
		for s := range p.in {
			if !p.open(int32(s)) {
				continue
			}
			p.put(i, int32(s))
			try(i + 1)
			p.take(i)
		}
	}
	try(0)
	return least
}

// TestTaPRABad: what cannot be placed says why; what is odd has an answer.
func TestTaPRABad(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Tasks)
		want  string
	}{
		"energy": {func(t *Tasks) { t.Energy = 1199 },
			"solve program: infeasible: the tasks take 1200 of energy on their best servers, and 1199 are allowed"},
		"efficiency": {func(t *Tasks) { t.Efficiency[2] = []float64{0, 0, 0} },
			"solve program: infeasible: task 2 has no server with efficiency, resources and a limit"},
		"resources": {func(t *Tasks) { t.Limits[3].Most, t.Limits[4].Most = 0, 0 },
			"solve program: infeasible: task 0 has no server with efficiency, resources and a limit"},
		"NaN":           {func(t *Tasks) { t.Load[1] = math.NaN() }, "place tasks: load of task 1 is NaN"},
		"zero load":     {func(t *Tasks) { t.Load[0] = 0 }, ""},
		"twelve orders": {func(t *Tasks) { t.Load[0] = 1e-9; t.Load[3] = 1e3 }, ""},
		"just enough":   {func(t *Tasks) { t.Energy = 1200 }, ""},
		"some zero efficiencies": {func(t *Tasks) {
			t.Efficiency[0] = []float64{0, 0, 1}
			t.Efficiency[3] = []float64{1, 0, 0}
		}, ""},
		"a zero limit":  {func(t *Tasks) { t.Limits[3].Most = 0 }, ""},
		"a zero server": {func(t *Tasks) { t.Limits[0].Most = 0 }, ""},
		"slots":         {func(t *Tasks) { t.Slots = []int32{1, 1, 1} }, "each algorithm says which task it is"},
		"NaN energy":    {func(t *Tasks) { t.Energy = math.NaN() }, "place tasks: energy is NaN"},
		"a thousand alike": {func(t *Tasks) {
			t.Load, t.Efficiency = slices.Repeat([]float64{7}, 1000), slices.Repeat(t.Efficiency[:1], 1000)
		}, ""},
	} {
		for by, place := range placings() {
			job := example()
			c.spoil(job)
			p, err := place(job, Effort{Trials: 200})
			switch {
			case c.want == "" && (err != nil || p.Verify(job) != nil || math.IsNaN(p.Gap())):
				t.Errorf("%s: %s: %v, %v", name, by, p, err)
			case c.want != "" && (err == nil || err.Error() != c.want && name != "slots"):
				t.Errorf("%s: %s: %v, want %s", name, by, err, c.want)
			}
		}
	}
}

// TestPlacersSayWhenTheyStop: a search that hits its bound on placements says so, and what it has found
// verifies.
func TestPlacersSayWhenTheyStop(t *testing.T) {
	job := documented(rand.New(rand.NewPCG(3, 9)), 30, 6, true)
	for name, place := range placings() {
		p, err := place(job, Effort{Trials: 3})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := p.Verify(job); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The others end by themselves here.
		hit := name == "fast" || strings.HasPrefix(name, "mm-ga") || strings.HasPrefix(name, "gsa")
		if p.Exhausted != hit || hit != (p.Trials == 3) {
			t.Errorf("%s: exhausted %v after %d trials", name, p.Exhausted, p.Trials)
		}
	}
}

// documented is a job in the fat-tree of y pods of section 3.6.1.1, with servers of 16 cores, or of 0
// to 10 vCPUs that are limits too: 0.3 of a rack, and 0.2 of a pod and of all, may be taken.
func documented(rng *rand.Rand, tasks, y int, each bool) *Tasks {
	t := &Tasks{}
	half := y / 2
	servers := y * half * half
	has := slices.Repeat([]float64{16}, servers)
	limit := func(name string, from, to int, part float64) {
		l := Limit{Name: name}
		for s := from; s < to; s++ {
			l.Servers = append(l.Servers, int32(s))
			l.Most += part * has[s]
		}
		t.Limits = append(t.Limits, l)
	}
	if each {
		for s := range has {
			has[s] = 10 * rng.Float64()
			limit("server", s, s+1, 1)
		}
	}
	for r := 0; r < servers; r += half {
		limit("rack", r, r+half, 0.3)
	}
	for p := 0; p < servers; p += half * half {
		limit("pod", p, p+half*half, 0.2)
	}
	limit("center", 0, servers, 0.2)
	sum := 0.0
	for range tasks {
		t.Load = append(t.Load, 100+900*rng.Float64())
		sum += t.Load[len(t.Load)-1]
		row := make([]float64, servers)
		for s := range row {
			row[s] = 0.1 + 0.9*rng.Float64()
		}
		t.Efficiency = append(t.Efficiency, row)
	}
	t.Energy = sum * (1.02 + 0.08*rng.Float64())
	return t
}

// computed is the processor time of the process.
func computed(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

func BenchmarkTaPRA(b *testing.B) {
	for limits, job := range map[string]*Tasks{"": documented(rand.New(rand.NewPCG(3, 9)), 100, 12, false),
		"_with_limits": documented(rand.New(rand.NewPCG(3, 9)), 100, 12, true)} {
		for name, algorithm := range placings() {
			b.Run(name+"/100_tasks_432_servers"+limits, func(b *testing.B) {
				var p *Placed
				began := computed(b)
				for b.Loop() {
					var err error
					if p, err = algorithm(job, Effort{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((computed(b)-began).Microseconds())/1e3/float64(b.N), "cpu-ms/op")
				b.ReportMetric(100*p.Gap(), "%gap")
			})
		}
	}
}

// TestSearchesAnswer: a search that has no time at all answers by its first placement.
func TestSearchesAnswer(t *testing.T) {
	job := documented(rand.New(rand.NewPCG(3, 9)), 30, 6, true)
	at := Effort{Trials: math.MaxInt32, Stop: func() bool { return true }}
	for name, search := range map[string]Search{"mm-ga": MMGA(Equal), "gsa": GSA(Proportional)} {
		p, err := search(job, at, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := p.Verify(job); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
