package pods

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/controller/topoeng"
	"lightloom/lab/experiment"
)

// installation is pods and switches that topologies are made for.
type installation struct {
	pods, switches, groups int
	changes                float64 // share of the demand that is drawn anew
}

func (p installation) String() string {
	return fmt.Sprintf("%d pods × %d switches, %.0f %% of demand new", p.pods, p.switches, 100*p.changes)
}

func installations() []installation {
	return []installation{{16, 16, 4, 0.1}, {16, 16, 4, 1}, {64, 64, 8, 0.1}, {64, 64, 8, 1}}
}

// The names of what is run, and of the figures of a run.
const (
	fewest   = "fewest disturbed"
	fromNone = "as if nothing stood"
	balanced = "balanced over groups"
	clearing = "clearance"

	longestPair   = "time of the slowest pair above fractions of circuits"
	disturbed     = "circuits disturbed"
	surely        = "circuits disturbed at least"
	gap           = "gap to the bound"
	makespan      = "makespan above the bound"
	gain          = "time to carry all, without dark time"
	breakEvenDark = "dark time below which moving pays"
)

// demandOf draws demand of pods with gravity: the demand of a pair is the product of its ends' sizes and noise; a
// fifth of the pairs has none.
func demandOf(pods int, rng *rand.Rand) topoeng.Demand {
	size := make([]float64, pods)
	for i := range size {
		size[i] = math.Exp(rng.NormFloat64() / 2)
	}
	d := make(topoeng.Demand, pods)
	for i := range d {
		d[i] = make([]float64, pods)
		for j := range d[i] {
			if noise := math.Exp(rng.NormFloat64() / 2); i != j && rng.Float64() < 0.8 {
				d[i][j] = size[i] * size[j] * noise
			}
		}
	}
	return d
}

// run makes a topology for one demand, and then one for a demand that has changed.
func (p installation) run(_ context.Context, b *experiment.Bench, system string,
	seed uint64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 0x706f6473)) // "pods"
	first, fresh := demandOf(p.pods, rng), demandOf(p.pods, rng)
	second := make(topoeng.Demand, p.pods)
	for i := range second {
		second[i] = make([]float64, p.pods)
		for j := range second[i] {
			if second[i][j] = first[i][j]; rng.Float64() < p.changes {
				second[i][j] = fresh[i][j]
			}
		}
	}
	if system == clearing {
		return p.clear(second)
	}
	counts, _, err := topoeng.Divide(first, p.switches, nil)
	if err != nil {
		return nil, err
	}
	standing := topoeng.NewTopology(p.pods, p.switches)
	if standing, _, err = p.next(system, counts, standing, seed); err != nil {
		return nil, err
	}
	want, value, err := topoeng.Divide(second, p.switches, standing.Counts())
	if err != nil {
		return nil, err
	}
	next, c, err := p.next(system, want, standing, seed)
	if err != nil {
		return nil, err
	}
	dec := topoeng.Decide(second, standing, next, 0, packets)
	return experiment.Figures{longestPair: 100 * (value.Value/value.Bound - 1), disturbed: c.Value, surely: c.Bound,
		gap: 100 * c.Gap(), gain: 100 * dec.Move / dec.Stay,
		breakEvenDark: 100 * max(0, dec.BreakEven.Seconds()) / dec.Stay}, nil
}

// packets is the rate of packets between two pods, as a share of a circuit's.
const packets = 0.25

// rounds is how many random rounds Assign has: 64 pods are to have an answer in 100 ms.
func (p installation) rounds() int {
	if p.pods > 16 {
		return 2
	}
	return 1000
}

func (p installation) next(system string, want topoeng.Counts, standing topoeng.Topology,
	seed uint64) (topoeng.Topology, topoeng.Certificate, error) {
	switch system {
	case fewest:
		return topoeng.Assign(want, standing, p.rounds(), seed)
	case balanced:
		return topoeng.Balance(want, p.groups, standing, p.rounds(), seed)
	}
	t, _, err := topoeng.Assign(want, topoeng.NewTopology(p.pods, p.switches), 0, seed)
	if err != nil {
		return t, topoeng.Certificate{}, err
	}
	_, c, err := topoeng.Assign(want, standing, 0, seed)
	c.Value = float64(standing.Disturbed(t))
	c.Exact = false
	return t, c, err
}

// clear clears demand over a quarter of the switches, at a delay of a fiftieth of the bound.
func (p installation) clear(d topoeng.Demand) (experiment.Figures, error) {
	m := schedule.New(p.pods)
	for i := range d {
		for j, x := range d[i] {
			m[i][j] = time.Duration(x * float64(10*time.Millisecond))
		}
	}
	switches := p.switches / 4
	delta := m.Largest() / time.Duration(50*switches)
	s, c, err := topoeng.Clear(m, switches, delta)
	if err != nil {
		return nil, err
	}
	if err := s.Check(m); err != nil {
		return nil, fmt.Errorf("clear demand: %w", err)
	}
	return experiment.Figures{makespan: 100 * (c.Value/c.Bound - 1)}, nil
}

func (p installation) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("division", p.String(), "")
	h.Row(longestPair, "%", 0, at[fewest].Of(longestPair))
	for _, name := range []string{fewest, balanced, fromNone} {
		h := out.At("assignment", p.String()+": "+name, "")
		h.Row(disturbed, "", 0, at[name].Of(disturbed))
		h.Row(surely, "", 0, at[name].Of(surely))
		if name != fromNone {
			h.Row(gap, "%", 0, at[name].Of(gap))
		}
		h.Row(gain, "% of what stands", 0, at[name].Of(gain))
		h.Row(breakEvenDark, "% of the time that what stands takes", 0, at[name].Of(breakEvenDark))
	}
	out.At("clearance", fmt.Sprintf("%v: %d switches", p, p.switches/4), "").Row(makespan, "%", 0,
		at[clearing].Of(makespan))
}

func runTopology(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := b.Result(
		"demand of a pair: the product of its pods' sizes and noise, both log-normal with σ = 1/2; a fifth has none",
		"every switch has one port, in and out, for every pod; groups are quarters or eighths of the switches",
		"each pair also has packets at a quarter of a circuit's rate",
		"clearance: a quarter of the switches, a delay of 2 % of the time in which the busiest port carries its demand",
	)
	return experiment.Fill(ctx, b, out, installations(), []string{fewest, balanced, fromNone, clearing},
		installation.run, installation.rows)
}
