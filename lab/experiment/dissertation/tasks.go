package dissertation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller/certified"
	"lightloom/controller/certified/online"
	"lightloom/lab/experiment"
	"lightloom/lab/report"
)

// center is the fat-tree data center of section 3.6.1.1: how many servers, and which are in which rack
// and pod.
type center struct{ pods, servers int }

func newCenter(pods int) center { return center{pods, pods * pods * pods / 4} }

// groups are racks of 0.3 and pods and the center of 0.2 of what their servers have.
func (c center) groups() []online.Group {
	var out []online.Group
	half := c.pods / 2
	add := func(name string, from, to int, part float64) {
		g := online.Group{Name: name, Part: part}
		for s := from; s < to; s++ {
			g.Servers = append(g.Servers, int32(s))
		}
		out = append(out, g)
	}
	for r := 0; r < c.servers; r += half {
		add("rack", r, r+half, 0.3)
	}
	for p := 0; p < c.servers; p += half * half {
		add("pod", p, p+half*half, 0.2)
	}
	add("center", 0, c.servers, 0.2)
	return out
}

// tasks draws loads up to most and efficiencies from 0.1 to 1, and the energy limit from 1 to 1.1 times
// the load, again while no placement keeps it.
func (c center) tasks(rng *rand.Rand, n int, most float64) (t *certified.Tasks, redrawn float64) {
	t = &certified.Tasks{}
	sum, least := 0.0, 0.0
	for range n {
		load := most * (1 - rng.Float64())
		row, best := make([]float64, c.servers), 0.0
		for s := range row {
			row[s] = 0.1 + 0.9*rng.Float64()
			best = max(best, row[s])
		}
		t.Load, t.Efficiency = append(t.Load, load), append(t.Efficiency, row)
		sum, least = sum+load, least+load/best
	}
	for t.Energy = 0; t.Energy < least; redrawn++ {
		t.Energy = sum * (1 + 0.1*rng.Float64())
		if redrawn > 100 { // the best servers take more than 1.1 times the load
			t.Energy = least * (1 + 1e-9)
		}
	}
	return t, redrawn - 1
}

// job is a job of that center whose servers have 0 to 10 vCPUs, of which racks, pods and the center may give a part:
// 1 + y + y²/2 limits for y pods. A server has none of its own, as in section 3.6.1.1.
func (c center) job(rng *rand.Rand, n int) (*certified.Tasks, float64) {
	t, redrawn := c.tasks(rng, n, 3600)
	has := make([]float64, c.servers)
	for s := range has {
		has[s] = 10 * rng.Float64()
	}
	for _, g := range c.groups() {
		l := certified.Limit{Name: g.Name, Servers: g.Servers}
		for _, s := range g.Servers {
			l.Most += g.Part * has[s]
		}
		t.Limits = append(t.Limits, l)
	}
	return t, redrawn
}

// The algorithms of chapter 3, by name. The baselines have static resources, shared equally (sections 3.2 and
// 3.6.1.4). A second row of each shares by equation 3.17, as TaPRA does.
const (
	TaPRA  = "TaPRA"
	Fast   = "TaPRA-fast"
	MinMin = "Min-Min"
	MMGA   = "MM-GA"
	GSA    = "GSA"

	shared = " with OptRA" // after a baseline's name: by equation 3.17
)

// placer is one of them.
type placer struct {
	name    string
	genetic bool // it draws, and ends when its effort says so
	by      certified.Search
}

func placers() []placer {
	type tasks = certified.Tasks
	all := []placer{
		{TaPRA, false, func(t *tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
			return certified.TaPRA(t, e)
		}},
		{Fast, false, func(t *tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
			return certified.TaPRAFast(t, e)
		}},
	}
	for _, share := range []struct {
		name string
		by   certified.Sharing
	}{{"", certified.Equal}, {shared, certified.Proportional}} {
		all = append(all,
			placer{MinMin + share.name, false, func(t *tasks, _ certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
				return certified.MinMin(t, share.by)
			}},
			placer{MMGA + share.name, true, certified.MMGA(share.by)},
			placer{GSA + share.name, true, certified.GSA(share.by)})
	}
	return all
}

// placerNames are all placers; documented are those that the chapter names.
func placerNames() (names []string) {
	for _, p := range placers() {
		names = append(names, p.name)
	}
	return names
}

func documented() []string { return []string{TaPRA, Fast, MinMin, MMGA, GSA} }

// within is the effort of a search that ends after some milliseconds of processor time, from now on.
func within(ms float64) certified.Effort {
	until := computed() + time.Duration(ms*float64(time.Millisecond))
	return certified.Effort{Trials: math.MaxInt32, Stop: func() bool { return computed() >= until }}
}

// long ends the name of a genetic baseline that has the processor time of the document.
const long = ", long"

// run is one run: job completion times by algorithm, "ms NAME" how long each took, "vCPUs NAME" what it
// allocates, and the gap that TaPRA proves in percent. The genetic baselines have the processor time that TaPRA takes
// and, as NAME, long, the document's, where the setting says it.
func (p placing) run(seed uint64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 0x34))
	t, redrawn := newCenter(p.pods).job(rng, p.tasks)
	out := experiment.Figures{"redrawn": redrawn}
	for _, a := range placers() {
		if err := p.place(a, a.name, 1, t, rng, out); err != nil {
			return nil, err
		}
	}
	for _, a := range placers() {
		if times := map[string]float64{MMGA: p.mmga, GSA: p.gsa}[a.name]; times > 0 {
			if err := p.place(a, a.name+long, times, t, rng, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// place runs an algorithm and notes its figures. A genetic one has so many times the processor time of TaPRA.
func (p placing) place(a placer, name string, times float64, t *certified.Tasks, rng *rand.Rand,
	out experiment.Figures) error {
	placed, ms, err := timed(func() (*certified.Placed, error) {
		var e certified.Effort
		if a.genetic {
			e = within(times * out["ms "+TaPRA])
		}
		return a.by(t, e, rng)
	})
	if err == nil {
		err = placed.Verify(t)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out[name], out["ms "+name] = placed.Value, ms
	for _, r := range placed.Resource {
		out["vCPUs "+name] += r
	}
	if a.name == TaPRA {
		out["gap"] = 100 * (placed.Value/placed.Bound - 1)
	}
	return nil
}

// arriving is one online setting.
type arriving struct {
	Order  online.Order
	By     string
	DRC    bool
	Scaled bool
}

func (a arriving) String() string {
	s := [...]string{"OnTaPRA", "FCFS", "SLF", "LLF"}[a.Order] + " with " + a.By
	if !a.DRC {
		s += ", NDRC"
	}
	if a.Scaled {
		s += ", scaled"
	}
	return s
}

// jobs draws those of section 3.6.2.1 until an instant.
func (a arriving) jobs(rng *rand.Rand, c center, until float64) (out []online.Job) {
	for now := rng.ExpFloat64() / 0.15; now < until; now += rng.ExpFloat64() / 0.15 {
		n := 0.5 * math.Pow(rng.ExpFloat64(), 1/0.8)
		if a.Scaled {
			n *= 12.5
		}
		t, _ := c.tasks(rng, int(min(max(math.Round(n), 1), 70)), 1000)
		out = append(out, online.Job{Arrival: now, Load: t.Load, Efficiency: t.Efficiency, Energy: t.Energy})
	}
	return out
}

// Run returns the mean JCT and the running time of a run, and the mean proven gap of its decisions, in
// percent.
func (a arriving) Run(seed uint64, until float64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 0x36))
	c := newCenter(6)
	run := &online.Tasks{Groups: c.groups(), Jobs: a.jobs(rng, c, until), Order: a.Order, DRC: a.DRC, Every: 5,
		MinFree: 0.1}
	for range c.servers {
		run.Capacity = append(run.Capacity, 10)
	}
	all := placers()
	by := all[slices.IndexFunc(all, func(p placer) bool { return p.name == a.By })]
	var few certified.Effort
	if by.genetic {
		few.Trials = 60
	}
	var proven gaps
	run.Place = func(t *certified.Tasks) (*certified.Placed, error) {
		p, err := by.by(t, few, rng)
		return noted(&proven, p, err)
	}
	took, ms, err := timed(run.Run)
	return experiment.Figures{"JCT": report.Mean(took), "gap": report.Mean(proven), "ms": ms}, err
}
