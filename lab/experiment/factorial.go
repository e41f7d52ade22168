package experiment

import (
	"context"
	"fmt"
	"math"
	"time"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment/control"
	"lightloom/lab/replay"
)

// The factorial experiment measures the value of deciding together: every placement with every routing and every way to
// set circuits, and beside them joint, which decides all three at once. It repeats no document, so no row makes a
// claim.

const (
	factorialFabric = "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=1Gbps,dark=10ms"
	// factorialPackets has the capacity of both networks on packets: two spines of 50 Mb/s and a circuit of 1 Gb/s a rack.
	factorialPackets = "leafspine:racks=8,hosts=2,spines=2,nic=500Mbps,eps=550Mbps"
)

func factorial() Experiment {
	return Experiment{Name: "factorial", Doc: "place × route × circuits, and joint, which decides all three at once",
		Source: "the synthetic workload",
		Seeds:  20, On: []string{OnFlowsim}, Run: runFactorial}
}

// The levels of the three factors; effects are measured against the first of each. Packets is the level none on a
// packet network that also has the circuits' capacity; sunflow-te0 is sunflow without the elephant threshold, as in
// joint.
var (
	factorPlace    = [...]string{"fair", "crosslayer", "coscheduler"}
	factorRoute    = [...]string{"ecmp", "anneal"}
	factorCircuits = [...]string{"none", "packets", "edmonds", "sunflow", "sunflow-te0"}
)

// cell is one combination of levels. Three cells are outside the design: joint, joint's placements with every pair lit,
// and crosslayer's placements with joint's circuits.
type cell struct{ place, route, circuits int }

var (
	jointly       = cell{-1, -1, -1}
	jointPlaces   = cell{-1, -1, -2}
	jointCircuits = cell{-1, -1, -3}
)

// circuitsElephants and circuitsAll are the cells of the design that joint is decomposed against.
var (
	circuitsElephants = cell{1, 1, 3}
	circuitsAll       = cell{1, 1, 4}
)

// beside reports whether a cell is outside the factorial design.
func (c cell) beside() bool { return c.place < 0 }

func (c cell) String() string {
	if c.beside() {
		return [...]string{"joint", "joint's places+anneal+sunflow-te0", "crosslayer+anneal+joint's circuits"}[-c.circuits-1]
	}
	return factorPlace[c.place] + "+" + factorRoute[c.route] + "+" + factorCircuits[c.circuits]
}

// make returns a fresh policy of the cell.
func (c cell) make() controller.Policy {
	if c.beside() {
		return c.half()
	}
	var where, which, lit policy.Part
	annealed := new(route.Annealed)
	switch factorPlace[c.place] {
	case "fair":
		where = new(place.Fair)
	case "crosslayer":
		where, annealed = joint.NewCrossLayer(anneal.Options{})
	default:
		where = new(place.CoScheduler)
	}
	if which = annealed; factorRoute[c.route] == "ecmp" {
		which = route.ECMP{}
	}
	switch factorCircuits[c.circuits] {
	case "edmonds":
		lit = circuits.Edmonds()
	case "sunflow":
		lit = circuits.Sunflow{}.Remembering()
	case "sunflow-te0":
		lit = circuits.Sunflow{Every: true}.Remembering()
	}
	return policy.Compose(where, lit, which, new(share.TCP))
}

// half returns joint, or one half of it and something else for the other.
func (c cell) half() controller.Policy {
	p, l, r := joint.NewJoint(anneal.Options{})
	switch c {
	case jointPlaces:
		return policy.Compose(p, circuits.Sunflow{Every: true}.Remembering(), r, new(share.TCP))
	case jointCircuits:
		p, r := joint.NewCrossLayer(anneal.Options{})
		return policy.Compose(p, l, r, new(share.TCP))
	}
	return policy.Compose(p, l, r, new(share.TCP))
}

// studySetting is where cells are compared.
type studySetting struct {
	fabric  string
	packets string // fabric of the level packets
	jobs    workload.SyntheticOptions
}

// run measures one run of the cell in the setting of the factorial experiment.
func (c cell) run(ctx context.Context, jobs int, window time.Duration, seed uint64) (*figures, error) {
	return c.on(ctx, studySetting{factorialFabric, factorialPackets,
		workload.SyntheticOptions{Jobs: jobs, Window: window}},
		seed)
}

// on measures one run of the cell. The policy name of the run shows only whether there are circuits.
func (c cell) on(ctx context.Context, g studySetting, seed uint64) (*figures, error) {
	g.jobs.Seed = seed
	all, err := workload.Synthetic(g.jobs)
	if err != nil {
		return nil, err
	}
	one := replay.Case{Fabric: g.fabric, On: OnFlowsim, Policy: "random+ecmp+sunflow", Jobs: all, Seed: seed, With: c.make}
	if !c.beside() && factorCircuits[c.circuits] == "none" {
		one.Policy = "random+ecmp"
	}
	if !c.beside() && factorCircuits[c.circuits] == "packets" {
		one.Policy, one.Fabric = "random+ecmp", g.packets
	}
	ran, err := control.Of(ctx, &one)
	if err != nil {
		return nil, err
	}
	return readFigures(ran), nil
}

// cells lists all combinations, the light's levels changing fastest, then joint and its halves.
func cells() []cell {
	var all []cell
	for p := range factorPlace {
		for r := range factorRoute {
			for l := range factorCircuits {
				all = append(all, cell{p, r, l})
			}
		}
	}
	return append(all, jointly, jointPlaces, jointCircuits)
}

func runFactorial(ctx context.Context, b *Bench) (*Result, error) {
	jobs := 40
	if b.Quick {
		jobs = 8
	}
	all := cells()
	out := &Result{Assumptions: []string{
		"fabric " + factorialFabric + ": 2 × 50 Mb/s of packets and 1 Gb/s of circuit a rack; reconfiguration delay as the " +
			"fabric's " +
			"preset has it",
		"packets: " + factorialPackets + ", the capacity of both on packets alone",
		fmt.Sprintf("%d jobs of the synthetic workload within 4 s, and the same jobs within 1 s; packets share links "+
			"max-min", jobs),
		"edmonds and sunflow carry elephants (9 reconfiguration delays at the circuit's rate), sunflow-te0 every pair; " +
			"joint weighs each " +
			"pair against its reconfiguration delay instead",
		"effects are of the logarithm, told as per cent of change: main ones the mean over all levels of the other " +
			"factors, interactions the difference of differences, both against " + cell{}.String(),
	}}
	for _, window := range [...]time.Duration{4 * time.Second, time.Second} {
		got, err := Grid(ctx, b, all, cell.String, func(ctx context.Context, c cell, seed uint64) (*figures, error) {
			return c.run(ctx, jobs, window, seed)
		})
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, factorialRows(b, all, got, fmt.Sprintf("within %v: ", window))...)
	}
	out.Notes = []string{fmt.Sprintf("%d intervals of 95 %%: about %.0f miss by chance", len(out.Rows),
		float64(len(out.Rows))/20)}
	return out, nil
}

func factorialRows(b *Bench, all []cell, got [][]*figures, prefix string) []Row {
	var rows []Row
	for _, m := range metrics() {
		e := effects{m: m, cells: all, got: got, seed: b.First}
		rows = append(rows, e.levels()...)
		rows = append(rows, e.mains()...)
		rows = append(rows, e.interactions()...)
		rows = append(rows, e.joint()...)
		rows = append(rows, e.steps()...)
	}
	for k, c := range all {
		rows = append(rows, boundRows(c.String(), got[k], b.First)...)
		if c.beside() || c.circuits > 1 {
			rows = append(rows, circuitShare(c.String(), got[k], b.First))
		}
	}
	for i := range rows {
		rows[i].Setting = prefix + rows[i].Setting
	}
	return rows
}

// circuitShare is what circuits carry of the bytes between racks.
func circuitShare(setting string, got []*figures, seed uint64) Row {
	return Row{Figure: "share of circuits", Setting: setting, Metric: "bytes between racks over circuits", Unit: "%"}.
		Measure(scaled(column(got, func(f *figures) float64 { return f.OCS }), 100), seed).Judge(0, "")
}

// effects reads the grid for one metric.
type effects struct {
	m     metric
	cells []cell
	got   [][]*figures
	seed  uint64
}

// of returns the logarithm of a cell's metric in a run.
func (e *effects) of(c cell, run int) float64 {
	for k := range e.cells {
		if e.cells[k] == c {
			return math.Log(e.m.of(e.got[k][run]))
		}
	}
	panic("experiment: no cell " + c.String())
}

// row measures one contrast: a difference of logarithms, run by run.
func (e *effects) row(figure, setting string, of func(run int) float64) Row {
	v := make([]float64, len(e.got[0]))
	for run := range v {
		v[run] = 100 * math.Expm1(of(run))
	}
	return Row{Figure: figure, Setting: setting, Metric: e.m.name, Unit: "%"}.Measure(v, e.seed).Judge(0, "")
}

func (e *effects) levels() []Row {
	var rows []Row
	for k, c := range e.cells {
		r := Row{Figure: "cell", Setting: c.String(), Metric: e.m.name, Unit: "s"}
		rows = append(rows, r.Measure(column(e.got[k], e.m.of), e.seed).Judge(0, ""))
	}
	return rows
}

// factors are the ways to set one factor of a cell, and its levels.
func factors() []struct {
	levels []string
	set    func(cell, int) cell
} {
	return []struct {
		levels []string
		set    func(cell, int) cell
	}{
		{factorPlace[:], func(c cell, l int) cell { c.place = l; return c }},
		{factorRoute[:], func(c cell, l int) cell { c.route = l; return c }},
		{factorCircuits[:], func(c cell, l int) cell { c.circuits = l; return c }},
	}
}

// average returns the mean of something over all cells.
func (e *effects) average(of func(cell) float64) float64 {
	sum, n := 0.0, 0
	for _, c := range e.cells {
		if !c.beside() {
			sum += of(c)
			n++
		}
	}
	return sum / float64(n)
}

func (e *effects) mains() []Row {
	var rows []Row
	for _, f := range factors() {
		for l := 1; l < len(f.levels); l++ {
			rows = append(rows, e.row("main effect", f.levels[l]+" against "+f.levels[0], func(run int) float64 {
				return e.average(func(c cell) float64 { return e.of(f.set(c, l), run) - e.of(f.set(c, 0), run) })
			}))
		}
	}
	return rows
}

func (e *effects) interactions() []Row {
	var rows []Row
	all := factors()
	for i, f := range all {
		for _, g := range all[i+1:] {
			for l := 1; l < len(f.levels); l++ {
				for k := 1; k < len(g.levels); k++ {
					rows = append(rows, e.row("interaction", f.levels[l]+" × "+g.levels[k], func(run int) float64 {
						return e.average(func(c cell) float64 {
							at := func(l, k int) float64 { return e.of(g.set(f.set(c, l), k), run) }
							return at(l, k) - at(0, k) - at(l, 0) + at(0, 0)
						})
					}))
				}
			}
		}
	}
	return rows
}

// joint compares it with every cell: below zero where joint takes less time.
func (e *effects) joint() []Row {
	var rows []Row
	for _, c := range e.cells {
		if c != jointly {
			rows = append(rows, e.row("joint", "joint against "+c.String(), func(run int) float64 {
				return e.of(jointly, run) - e.of(c, run)
			}))
		}
	}
	return rows
}

// steps decomposes joint's distance from crosslayer+anneal+sunflow: it switches one decision after the other to
// joint's. Below zero a step saves time; the steps multiply to the whole.
func (e *effects) steps() []Row {
	var rows []Row
	for _, s := range []struct {
		name     string
		ours, to cell
	}{
		{"1. no threshold of elephants", circuitsAll, circuitsElephants},
		{"2. circuits weighed one by one", jointCircuits, circuitsAll},
		{"3. places for them", jointly, jointCircuits},
		{"all of joint", jointly, circuitsElephants},
	} {
		rows = append(rows, e.row("step", s.name, func(run int) float64 { return e.of(s.ours, run) - e.of(s.to, run) }))
	}
	return rows
}
