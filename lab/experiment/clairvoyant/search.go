package clairvoyant

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// arena is a ground with the jobs of one seed.
type arena struct {
	fabric *topo.Fabric
	spec   string
	jobs   []controller.Job // each of maps, a shuffle and reduces, all placed at once
	alone  []float64        // by job: how long its shuffle takes at least
	seed   uint64
}

// trial is a schedule that was run, as it was carried out.
type trial struct {
	*plan
	CCT, JCT float64   // means, seconds
	start    []float64 // of the shuffle, by job
	late     []float64 // by job: how much longer the shuffle took than it does alone at best
}

// run simulates a policy; that of a plan leaves what was carried out of it.
func (a *arena) run(ctx context.Context, spec, name string, with func() controller.Policy) (*trial, error) {
	c := replay.Case{Options: scenario.Options{
		Fabric: spec, On: experiment.OnFlowsim, Policies: []string{name}, Given: a.jobs, Seed: a.seed,
	}, With: with}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	n := len(a.jobs)
	if len(ran.Jobs) != n || len(ran.State.Coflows) != n {
		return nil, errors.New("a job has not ended, or has not one shuffle")
	}
	p := &plan{hosts: make([][]southbound.HostID, n), weight: make([]float64, n), least: 1}
	t := &trial{plan: p, start: make([]float64, n), late: make([]float64, n)}
	for i, j := range ran.State.Jobs {
		for k := range a.jobs[i].Tasks() {
			t.hosts[i] = append(t.hosts[i], ran.State.Tasks[int(j.FirstTask)+k].Host)
		}
		c := ran.State.Coflows[i]
		t.start[i], t.late[i], t.weight[i] = c.Started.Seconds(), (c.Ended-c.Started).Seconds()-a.alone[i], 1
		t.JCT += (ran.Jobs[i].End - ran.Jobs[i].Arrival).Seconds() / float64(n)
	}
	for _, c := range ran.Coflows {
		t.CCT += (c.End - c.Start).Seconds() / float64(len(ran.Coflows))
	}
	return t, nil
}

const someCircuits = "random+ecmp+sunflow" // it only says that there are circuits

func (a *arena) follow(ctx context.Context, p *plan) (*trial, error) {
	t, err := a.run(ctx, a.spec, someCircuits, p.policy)
	if err == nil {
		t.weight, t.least = p.weight, p.least
	}
	return t, err
}

// packets runs packed places on packets of equal capacity.
func (a *arena) packets(ctx context.Context) (*trial, error) {
	return a.run(ctx, a.fabric.Spec.WithoutOCS(true).String(), "random+ecmp", func() controller.Policy {
		return policy.Compose(place.Packed{}, nil, new(route.Annealed), new(share.TCP))
	})
}

// search improves on plans with that many more simulated runs: threshold accepting from the best of
// them, which ends at pure descent. A schedule is as good as its mean CCT, but waiting for slots is no
// way to shorten shuffles: what jobs take longer than under the plan that it began with counts too.
func (a *arena) search(ctx context.Context, from []*trial, runs int) (best *trial, err error) {
	for _, t := range from {
		if best == nil || t.CCT < best.CCT {
			best = t
		}
	}
	r, now, most := rand.New(rand.NewPCG(a.seed, 0x636c616972)), best, best.JCT
	cost := func(t *trial) float64 { return t.CCT + max(0, t.JCT-most) }
	for k := range runs {
		p := now.clone()
		a.change(p, now, r)
		t, err := a.follow(ctx, p)
		if err != nil {
			return nil, err
		}
		slack := 1 + 0.01*(1-float64(k)/float64(runs))
		if cost(t) < cost(now)*slack {
			now = t
		}
		if cost(t) < cost(best) {
			best = t
		} else if now.CCT > best.CCT*1.02 {
			now = best
		}
	}
	return best, nil
}

// change changes the places of a job, the rank of a shuffle or the threshold.
func (a *arena) change(p *plan, now *trial, r *rand.Rand) {
	j := r.IntN(len(a.jobs))
	for range 2 { // a late one rather
		if o := r.IntN(len(a.jobs)); now.late[o] > now.late[j] {
			j = o
		}
	}
	hosts := p.hosts[j]
	rack := southbound.HostID(a.fabric.FirstHost[r.IntN(a.fabric.Racks)])
	within := func(h southbound.HostID) southbound.HostID { // the same host of that rack
		return rack + h - southbound.HostID(a.fabric.FirstHost[a.fabric.RackOf(int32(h))])
	}
	switch kind := r.IntN(100); {
	case kind < 2:
		p.least = []float64{0, 0.25, 1, 4, 16}[r.IntN(5)]
	case kind < 25:
		p.weight[j] *= math.Exp(4 * (r.Float64() - 0.5))
	case kind < 40: // all into one rack
		for t := range hosts {
			hosts[t] = rack + southbound.HostID(t/a.fabric.Spec.Slots%a.fabric.HostsPerRack)
		}
	case kind < 55: // one rack's tasks into another
		from := a.fabric.RackOf(int32(hosts[r.IntN(len(hosts))]))
		for t, h := range hosts {
			if a.fabric.RackOf(int32(h)) == from {
				hosts[t] = within(h)
			}
		}
	case kind < 65: // a stage into one rack
		first, end := a.jobs[j].StageTasks(r.IntN(2))
		for t := first; t < end; t++ {
			hosts[t] = within(hosts[t])
		}
	case kind < 80: // two tasks of it for each other
		t, o := r.IntN(len(hosts)), r.IntN(len(hosts))
		hosts[t], hosts[o] = hosts[o], hosts[t]
	case kind < 90: // one task elsewhere
		hosts[r.IntN(len(hosts))] = southbound.HostID(r.IntN(a.fabric.Hosts()))
	default: // the places of a job that comes soon before or after
		o := min(max(j+r.IntN(9)-4, 0), len(a.jobs)-1)
		other := p.hosts[o]
		mine := append([]southbound.HostID(nil), hosts...)
		for t := range hosts {
			hosts[t] = other[t%len(other)]
		}
		for t := range other {
			other[t] = mine[t%len(mine)]
		}
	}
}
