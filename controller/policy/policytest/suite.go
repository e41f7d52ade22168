package policytest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Hash digests everything in a view that a policy could write to, but for the fabric and the path map,
// which are immutable.
func Hash(v *controller.View) [32]byte {
	c := *v
	c.Fabric, c.Paths = nil, nil
	b, err := json.Marshal(&c)
	if err != nil {
		panic("policytest: " + err.Error())
	}
	return sha256.Sum256(b)
}

// Reporter is what a failure is told: a *testing.T, or a command's own. Fatalf does not return.
type Reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Run tries the laws on that many random views. fresh returns a new instance at each call.
func Run(t Reporter, views int, fresh func() controller.Policy) {
	t.Helper()
	RunOn(t, views, View, fresh)
}

// RunOn is Run on views of another kind.
func RunOn(t Reporter, views int, view func(seed uint64) *controller.View, fresh func() controller.Policy) {
	t.Helper()
	used := fresh()
	rates := map[southbound.PairRate]southbound.PairRate{}
	for seed := range uint64(views) {
		v := view(seed)
		before := Hash(v)
		p := fresh()
		can := p.Capabilities()
		plan := p.Decide(v, nil)
		want := text(plan)
		if Hash(v) != before {
			t.Fatalf("view %d: Decide wrote to the view", seed)
		}
		laws(t, seed, v, want, fresh)
		if err := Check(v, plan); err != nil {
			t.Fatalf("view %d: %v", seed, err)
		}
		capable(t, seed, v, want, fresh, can, plan)
		got := used.Decide(v, nil)
		if diff := text(got); !same(want, diff, false) {
			t.Fatalf("view %d: an instance that has decided before gives\n%s\na fresh one\n%s", seed, diff, want)
		}
		merge(rates, got.Share)
		if err := covers(rates, plan.Share); err != nil {
			t.Fatalf("view %d: rates said so far: %v", seed, err)
		}
		if Hash(v) != before {
			t.Fatalf("view %d: a later Decide wrote to the view", seed)
		}
	}
}

func laws(t Reporter, seed uint64, v *controller.View, want [2]string, fresh func() controller.Policy) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x22))
	for _, try := range []struct {
		name   string
		decide func() *controller.Plan
	}{
		{"a second fresh instance", func() *controller.Plan { return fresh().Decide(v, nil) }},
		{"events at random", func() *controller.Plan { return fresh().Decide(v, events(rng, v)) }},
		{"another order of jobs, coflows and reservations", func() *controller.Plan {
			return fresh().Decide(shuffled(rng, v), nil)
		}},
	} {
		if got := text(try.decide()); !same(want, got, true) {
			t.Fatalf("view %d: %s gives\n%s\nfor\n%s", seed, try.name, got, want)
		}
	}
}

// capable checks that a policy does nothing and reads nothing outside its Capabilities.
func capable(t Reporter, seed uint64, v *controller.View, want [2]string, fresh func() controller.Policy,
	can controller.Capabilities, plan *controller.Plan) {
	t.Helper()
	if !can.Circuits && len(plan.Reserve)+len(plan.Withdraw)+len(plan.Preempt) > 0 {
		t.Fatalf("view %d: %+v sets up circuits", seed, can)
	}
	moves := slices.ContainsFunc(plan.Place, func(pl controller.Placement) bool { return len(pl.Move) > 0 })
	if !can.Migrates && moves {
		t.Fatalf("view %d: %+v moves tasks", seed, can)
	}
	if can.Blind {
		if got := text(fresh().Decide(blinded(v, false), nil)); !same(want, got, true) {
			t.Fatalf("view %d: decides\n%s\nwhere it is not told what is left, else\n%s", seed, got, want)
		}
	}
	if can.Totals {
		if got := text(fresh().Decide(blinded(v, true), nil)); !same(want, got, true) {
			t.Fatalf("view %d: decides\n%s\nwhere it is told totals of what is left, else\n%s", seed, got, want)
		}
	}
	if can.Brief {
		if got := text(fresh().Decide(brief(v), nil)); !same(want, got, true) {
			t.Fatalf("view %d: decides\n%s\nwhere what is left is brief, else\n%s", seed, got, want)
		}
		briefly(t, seed, fresh)
	}
	if can.Late {
		if got := text(fresh().Decide(unread(v), nil)); !same(want, got, true) {
			t.Fatalf("view %d: decides\n%s\nwhere it is to ask for what is left, else\n%s", seed, got, want)
		}
	}
}

// unread returns a copy of a blinded view, which is told what coflows have left once somebody asks.
func unread(v *controller.View) *controller.View {
	c := blinded(v, false)
	c.Unread = func(c *controller.View) {
		for i := range c.Coflows {
			c.Coflows[i].Remaining = v.Coflows[i].Remaining
		}
	}
	return blinded(c, false)
}

// blinded returns a view without what coflows have left, except for the number of rows, and perhaps the
// totals.
func blinded(v *controller.View, totals bool) *controller.View {
	c := *v
	c.Coflows = slices.Clone(v.Coflows)
	for i := range c.Coflows {
		c.Coflows[i].Remaining = southbound.Remaining{Live: c.Coflows[i].Remaining.Live}
		if totals {
			c.Coflows[i].Remaining.Total = v.Coflows[i].LeftTotal()
		}
	}
	return &c
}

// text writes a plan down, rates apart: they are deltas on what an instance has said.
func text(p *controller.Plan) [2]string {
	c := *p
	c.Share = nil
	return [2]string{fmt.Sprintf("%+v", c), fmt.Sprintf("%+v", p.Share)}
}

func same(a, b [2]string, rates bool) bool { return a[0] == b[0] && (!rates || a[1] == b[1]) }

func events(rng *rand.Rand, v *controller.View) []controller.Event {
	ev := make([]controller.Event, rng.IntN(5))
	for i := range ev {
		ev[i] = controller.Event{At: v.Now, Kind: controller.Kind(1 + rng.IntN(9)),
			Job:    controller.JobID(rng.IntN(9)),
			Coflow: southbound.CoflowID(rng.IntN(9)), Row: int32(rng.IntN(9))}
	}
	return ev
}

func shuffled(rng *rand.Rand, v *controller.View) *controller.View {
	c := *v
	c.Evicted = slices.Clone(v.Evicted)
	slices.Reverse(c.Evicted)
	c.Waiting, c.Coflows, c.Reserved = slices.Clone(v.Waiting), slices.Clone(v.Coflows), slices.Clone(v.Reserved)
	rng.Shuffle(len(c.Waiting), func(i, j int) { c.Waiting[i], c.Waiting[j] = c.Waiting[j], c.Waiting[i] })
	rng.Shuffle(len(c.Coflows), func(i, j int) { c.Coflows[i], c.Coflows[j] = c.Coflows[j], c.Coflows[i] })
	rng.Shuffle(len(c.Reserved), func(i, j int) {
		c.Reserved[i], c.Reserved[j] = c.Reserved[j],
			c.Reserved[i]
	})
	return &c
}

// merge adds an answer to what hosts have been sent.
func merge(told map[southbound.PairRate]southbound.PairRate, r *southbound.Rates) {
	if r == nil {
		return
	}
	for _, p := range r.Pairs {
		told[southbound.PairRate{Src: p.Src, Dst: p.Dst, Tag: p.Tag}] = p
	}
}

// covers reports whether hosts have been sent all that a fresh instance would send them.
func covers(told map[southbound.PairRate]southbound.PairRate, r *southbound.Rates) error {
	if r == nil {
		return nil
	}
	for _, p := range r.Pairs {
		if got := told[southbound.PairRate{Src: p.Src, Dst: p.Dst, Tag: p.Tag}]; got != p {
			return fmt.Errorf("%+v, a fresh instance says %+v", got, p)
		}
	}
	return nil
}
