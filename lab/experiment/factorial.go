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
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
)

// The factorial experiment measures the value of deciding together: every placement with every routing
// and every way to set circuits, and beside them joint, which decides all three at once. It repeats no
// document, so no row makes a claim.

const (
	factorialFabric = "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=1Gbps,dark=10ms"
	// factorialPackets has the capacity of both networks on packets: two spines of 50 Mb/s and a circuit
	// of 1 Gb/s a rack.
	factorialPackets = "leafspine:racks=8,hosts=2,spines=2,nic=500Mbps,eps=550Mbps"
)

// The levels of the three factors; effects are measured against the first of each. Packets is the level
// none on a packet network that also has the circuits' capacity; sunflow-te0 is sunflow without the
// elephant threshold, as in joint.
var (
	factorPlace    = [...]string{"fair", "crosslayer", "coscheduler"}
	factorRoute    = [...]string{"ecmp", "anneal"}
	factorCircuits = [...]string{"none", "packets", "edmonds", "sunflow", "sunflow-te0"}
)

// cell is one combination of levels. Three cells are outside the design: joint, joint's placements with
// every pair lit, and crosslayer's placements with joint's circuits.
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
		return [...]string{"joint", "joint's places+anneal+sunflow-te0",
			"crosslayer+anneal+joint's circuits"}[-c.circuits-1]
	}
	return factorPlace[c.place] + "+" + factorRoute[c.route] + "+" + factorCircuits[c.circuits]
}

// make returns a fresh policy of the cell.
func (c cell) make() controller.Policy {
	where, lit, which := c.parts()
	return policy.Compose(where, lit, which, new(share.TCP))
}

func (c cell) parts() (where, lit, which policy.Part) {
	p, l, r := joint.NewJoint(anneal.Options{})
	crosslayer, annealed := joint.NewCrossLayer(anneal.Options{})
	every := circuits.Sunflow{Every: true}.Remembering()
	switch c {
	case jointly:
		return p, l, r
	case jointPlaces:
		return p, every, r
	case jointCircuits:
		return crosslayer, l, annealed
	}
	where = []policy.Part{new(place.Fair), crosslayer, new(place.CoScheduler)}[c.place]
	if factorPlace[c.place] != "crosslayer" {
		annealed = new(route.Annealed)
	}
	which = []policy.Part{route.ECMP{}, annealed}[c.route]
	lit = []policy.Part{nil, nil, circuits.Edmonds(), circuits.Sunflow{}.Remembering(), every}[c.circuits]
	return where, lit, which
}

// studySetting is where cells are compared.
type studySetting struct {
	name   string
	fabric string // but for the level packets
	jobs   workload.SyntheticOptions
}

func (g studySetting) String() string { return g.name }

// study is the setting of the factorial experiment. A quick try has few jobs.
func study(b *Bench, name string, window time.Duration) studySetting {
	g := studySetting{name, factorialFabric, workload.SyntheticOptions{Jobs: 40, Window: window}}
	if b.Quick {
		g.jobs.Jobs = 8
	}
	return g
}

// run measures one run of a cell. The policy name of the run shows only whether there are circuits.
func (g studySetting) run(ctx context.Context, _ *Bench, c cell, seed uint64) (Figures, error) {
	g.jobs.Seed = seed
	all, err := workload.Synthetic(g.jobs)
	if err != nil {
		return nil, err
	}
	one := &replay.Case{Options: scenario.Options{
		Fabric: g.fabric, On: OnFlowsim, Policies: []string{"random+ecmp+sunflow"}, Given: all,
		Seed: seed,
	}, With: c.make}
	if !c.beside() && c.circuits <= 1 {
		one.Policies = []string{"random+ecmp"}
	}
	if !c.beside() && factorCircuits[c.circuits] == "packets" {
		one.Fabric = factorialPackets
	}
	return controlled(ctx, one)
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
	places := []studySetting{study(b, "within 4s", 4*time.Second), study(b, "within 1s", time.Second)}
	out := b.Result(
		"fabric "+factorialFabric+": 2 × 50 Mb/s of packets and 1 Gb/s of circuit a rack; reconfiguration delay as the "+
			"fabric's preset has it",
		"packets: "+factorialPackets+", the capacity of both on packets alone",
		fmt.Sprintf("%d jobs of the synthetic workload within 4 s, and the same jobs within 1 s; packets share links "+
			"max-min", places[0].jobs.Jobs),
		"edmonds and sunflow carry elephants (9 reconfiguration delays at the circuit's rate), sunflow-te0 every pair; "+
			"joint weighs each pair against its reconfiguration delay instead",
		"effects are of the logarithm, told as per cent of change: main ones the mean over all levels of the other "+
			"factors, interactions the difference of differences, both against "+cell{}.String(),
	)
	return Fill(ctx, b, out, places, cells(), studySetting.run, studySetting.rows, Chance)
}

// rows are those of the factorial experiment.
func (g studySetting) rows(out *Result, got Systems) {
	for _, m := range metrics() {
		e := effects{m, got, g.name + ": ", out}
		for _, c := range cells() {
			out.At("cell", e.prefix+c.String(), "").Row(m, "s", 0, got[c.String()].Of(m))
		}
		e.mains()
		e.interactions()
		for _, c := range cells() {
			if c != jointly {
				e.joint(c)
			}
		}
		e.steps()
	}
	for _, c := range cells() {
		g.limits(out, got, c)
	}
}

// limits are rows of what a network can change of a cell, and of what its circuits carry.
func (g studySetting) limits(out *Result, got Systems, c cell) {
	at, runs := g.name+": "+c.String(), got[c.String()]
	out.bounds(at, runs)
	if c.beside() || c.circuits > 1 {
		out.circuitShare(at, runs)
	}
}

// circuitShare is what circuits carry of the bytes between racks.
func (r *Result) circuitShare(setting string, got Runs) {
	r.At("share of circuits", setting, "").Row(overOCS, "%", 0, got.Of(overOCS))
}

// effects adds rows of one metric of all cells. prefix begins the settings of rows.
type effects struct {
	metric string
	got    Systems
	prefix string
	out    *Result
}

// of returns the logarithm of a cell's metric in a run.
func (e *effects) of(c cell, run int) float64 { return math.Log(e.got[c.String()][run][e.metric]) }

// row measures one contrast: a difference of logarithms, run by run.
func (e *effects) row(figure, setting string, of func(run int) float64) {
	v := make([]float64, len(e.got[jointly.String()]))
	for run := range v {
		v[run] = 100 * math.Expm1(of(run))
	}
	e.out.At(figure, e.prefix+setting, "").Row(e.metric, "%", 0, v)
}

// step is the effect of going from one cell to another: below zero where that takes less time.
func (e *effects) step(figure, setting string, ours, theirs cell) {
	e.row(figure, setting, func(run int) float64 { return e.of(ours, run) - e.of(theirs, run) })
}

// factor is a way to set one factor of a cell, and its levels.
type factor struct {
	levels []string
	set    func(cell, int) cell
}

func factors() []factor {
	return []factor{
		{factorPlace[:], func(c cell, l int) cell { c.place = l; return c }},
		{factorRoute[:], func(c cell, l int) cell { c.route = l; return c }},
		{factorCircuits[:], func(c cell, l int) cell { c.circuits = l; return c }},
	}
}

// average returns the mean of something over all cells of the design.
func (e *effects) average(of func(cell) float64) float64 {
	sum, n := 0.0, 0
	for _, c := range cells() {
		if !c.beside() {
			sum += of(c)
			n++
		}
	}
	return sum / float64(n)
}

func (e *effects) mains() {
	for _, f := range factors() {
		for l := 1; l < len(f.levels); l++ {
			e.row("main effect", f.levels[l]+" against "+f.levels[0], func(run int) float64 {
				return e.average(func(c cell) float64 { return e.of(f.set(c, l), run) - e.of(f.set(c, 0), run) })
			})
		}
	}
}

func (e *effects) interactions() {
	all := factors()
	for i, f := range all {
		for _, g := range all[i+1:] {
			for l := 1; l < len(f.levels); l++ {
				for k := 1; k < len(g.levels); k++ {
					e.row("interaction", f.levels[l]+" × "+g.levels[k], func(run int) float64 {
						return e.average(func(c cell) float64 {
							at := func(l, k int) float64 { return e.of(g.set(f.set(c, l), k), run) }
							return at(l, k) - at(0, k) - at(l, 0) + at(0, 0)
						})
					})
				}
			}
		}
	}
}

// joint compares it with a cell.
func (e *effects) joint(c cell) { e.step("joint", "joint against "+c.String(), jointly, c) }

// steps decomposes joint's distance from crosslayer+anneal+sunflow: it switches one decision after the
// other to joint's. Below zero a step saves time; the steps multiply to the whole.
func (e *effects) steps() {
	e.step("step", "1. no threshold of elephants", circuitsAll, circuitsElephants)
	e.step("step", "2. circuits weighed one by one", jointCircuits, circuitsAll)
	e.step("step", "3. places for them", jointly, jointCircuits)
	e.step("step", "all of joint", jointly, circuitsElephants)
}
