package collectives

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller/collective"
	"lightloom/controller/collective/collectivetest"
	"lightloom/controller/collective/oncircuits"
	"lightloom/controller/topoeng"
	"lightloom/lab/experiment"
	"lightloom/pathmap"
)

// repaired is a torus of which a cable dies.
type repaired struct{ side int }

func (r repaired) String() string {
	return fmt.Sprintf("torus %d×%d×%d, a cable dies, 1 a node, held", r.side, r.side, r.side)
}

func repairs(quick bool) []repaired {
	if quick {
		return []repaired{{4}}
	}
	return []repaired{{4}, {8}}
}

// The figures of a repair, beside those of an all-gather.
const (
	anew       = "a new schedule"
	repairTime = "repair, processor time"
)

func (r repaired) run(_ context.Context, _ *experiment.Bench, _ string, seed uint64) (experiment.Figures, error) {
	n := collective.Torus([]int{r.side, r.side, r.side}, collectivetest.Rate, collectivetest.Latency)
	n.Hold = true
	bytes := collectivetest.GiB / pathmap.Bytes(n.Nodes)
	s, _, err := collective.AllGather(n, 1, bytes)
	if err != nil {
		return nil, err
	}
	cable := 2 * rand.New(rand.NewPCG(seed, 1)).Int32N(int32(len(n.Links)/2))
	var left *collective.Network
	var fixed *collective.Schedule
	var b collective.Bounds
	took, err := processorTime(func() (err error) {
		left, fixed, b, err = collective.Repair(n, s, cable, cable+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := collectivetest.Check(left, fixed); err != nil {
		return nil, fmt.Errorf("replay %v: %w", r, err)
	}
	fresh, _, err := collective.AllGather(left, 1, bytes)
	if err != nil {
		return nil, err
	}
	return experiment.Figures{ends: float64(fixed.Ends) / 1e3, anew: float64(fresh.Ends) / 1e3,
		aboveWhole: 100 * (float64(fixed.Ends)/float64(b.Best()) - 1), repairTime: took.Seconds() * 1e3}, nil
}

func (r repaired) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("repair", r.String(), "")
	h.Row(ends+", repaired", "µs", 0, at[ours].Of(ends))
	h.Row(ends+", "+anew, "µs", 0, at[ours].Of(anew))
	h.Row(aboveWhole, "%", 0, at[ours].Of(aboveWhole))
	h.Row(repairTime, "ms", 0, at[ours].Of(repairTime))
}

// exchange is an all-to-all.
type exchange struct {
	name string
	make func(rng *rand.Rand) (*collective.Network, error)
}

func (x exchange) String() string { return x.name + ", 2 a pair, pipelined" }

func exchanges(quick bool) []exchange {
	all := []exchange{
		{"torus 4×4×4", func(*rand.Rand) (*collective.Network, error) {
			return collective.Torus([]int{4, 4, 4}, collectivetest.Rate, collectivetest.Latency), nil
		}},
		{"torus 4×4×4, 3 dead cables", func(rng *rand.Rand) (*collective.Network, error) {
			return collectivetest.Cube(4, rng)[2].Net, nil
		}},
		{"irregular Jellyfish 64", collectivetest.Irregular},
	}
	if quick {
		return all[:1]
	}
	return all
}

func (x exchange) run(_ context.Context, _ *experiment.Bench, _ string, seed uint64) (experiment.Figures, error) {
	n, err := x.make(rand.New(rand.NewPCG(seed, 2)))
	if err != nil {
		return nil, err
	}
	nodes := pathmap.Bytes(n.Nodes)
	s, b, err := collective.AllToAll(n, 2, collectivetest.GiB/nodes/nodes/2)
	if err != nil {
		return nil, err
	}
	if err := collectivetest.Check(n, s); err != nil {
		return nil, fmt.Errorf("replay %v: %w", x, err)
	}
	return experiment.Figures{ends: float64(s.Ends) / 1e3, aboveWhole: 100 * (float64(s.Ends)/float64(b.Best()) - 1)}, nil
}

func (x exchange) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("all-to-all", x.String(), "")
	h.Row("all-to-all, "+ours, "µs", 0, at[ours].Of(ends))
	h.Row("above the bound", "%", 0, at[ours].Of(aboveWhole))
}

// together is a collective on racks whose circuits are chosen with it.
type together struct {
	kind  collective.Kind
	stand string
	data  pathmap.Bytes
	delta time.Duration
	tries int
}

func (t together) String() string {
	return fmt.Sprintf("%v of %d KiB, %s stand, δ = %v", t.kind, t.data>>10, t.stand, t.delta)
}

// What stands before.
const (
	aRing  = "a ring"
	pairs  = "pairs"
	anyRun = "random circuits"
)

func togethers(quick bool) []together {
	var out []together
	for _, kind := range []collective.Kind{collective.KindAllGather, collective.KindAllToAll} {
		for _, stand := range []string{aRing, pairs, anyRun} {
			for _, data := range []pathmap.Bytes{16 << 10, 1 << 20} {
				for _, delta := range []time.Duration{10 * time.Microsecond, time.Millisecond} {
					out = append(out, together{kind, stand, data, delta, 30})
				}
			}
		}
	}
	if quick {
		return out[:2]
	}
	return out
}

// The figures of a choice.
const (
	alone     = "the best of choosing each alone"
	both      = "chosen together"
	overBound = "chosen together, without δ, above the bound"
)

// problem is 16 racks with 4 circuits each.
func (t together) problem(rng *rand.Rand) *oncircuits.Problem {
	const racks, switches = 16, 4
	p := &oncircuits.Problem{Kind: t.kind, Data: t.data, Standing: topoeng.NewTopology(racks, switches),
		Rate: nic / switches, Latency: 5 * time.Microsecond, Delta: t.delta}
	for _, out := range p.Standing.Out {
		ring := rng.Perm(racks)
		for i := range out {
			switch t.stand {
			case aRing:
				out[i] = int32((i + 1) % racks)
			case pairs:
				out[i] = int32(i ^ 1)
			default:
				out[ring[i]] = int32(ring[(i+1)%racks])
			}
		}
	}
	return p
}

func (t together) run(_ context.Context, _ *experiment.Bench, _ string, seed uint64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	p := t.problem(rng)
	circuits, standing, err := oncircuits.Alone(p)
	if err != nil {
		return nil, err
	}
	least := circuits.Time
	if standing != nil {
		least = min(least, standing.Time)
	}
	c, err := oncircuits.Together(p, t.tries, rng)
	if err != nil {
		return nil, err
	}
	if err := collectivetest.Check(c.Net, c.Schedule); err != nil {
		return nil, fmt.Errorf("replay %v: %w", t, err)
	}
	return experiment.Figures{alone: float64(least) / 1e3, both: float64(c.Time) / 1e3,
		overBound: 100 * (float64(c.Schedule.Ends)/float64(p.Bound()) - 1)}, nil
}

func (t together) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("with circuits", t.String(), "")
	h.Row(alone, "µs", 0, at[ours].Of(alone))
	h.Row(both, "µs", 0, at[ours].Of(both))
	h.Row("sooner than each alone", "%", 0, experiment.Compare(at[ours].Of(both), at[ours].Of(alone), experiment.Below))
	h.Row(overBound, "%", 0, at[ours].Of(overBound))
}
