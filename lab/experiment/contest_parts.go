package experiment

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/share"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/southbound"
)

// The experiment joint-parts measures two ideas about circuits that stand: that coflows of the same
// racks share and extend them, and that bytes go over two of them where that is sooner than waiting for
// one.

// The grounds of joint-wide on which joint beats its rivals.
var partsGrounds = []string{"busier", "dark 200 ms", "SWIM, 20 % heavy, dark 500ms, offered 50 %",
	"SWIM, 60 % heavy, dark 500ms, offered 90 %"}

// The systems of joint-parts, and the figures of how coflows waited, in per cent of the time for which
// they did.
const (
	goesOn, afresh = "joint", "joint, circuits afresh"
	idleHops       = "waiting while two circuits lead there that carry nothing"
	litHops        = "waiting while two circuits lead there"
)

func runJointParts(ctx context.Context, b *Bench) (*Result, error) {
	n := 0
	if b.Quick {
		n = 6
	}
	var places []ground
	for _, g := range contested(n, b.First) {
		if slices.Contains(partsGrounds, g.name) && (!g.source.data || b.Data != "") {
			places = append(places, g)
		}
	}
	out := b.Result(append(contestAssumptions(), "a pair of racks waits from the first reservation of its "+
		"coflow until its circuit is in service")...)
	return Fill(ctx, b, out, places, []string{goesOn, afresh}, ground.parts, ground.partsRows)
}

func (g ground) partsRows(out *Result, at Systems) {
	h := out.At("circuits that go on", g.name, "")
	for _, m := range metrics()[1:] {
		h.Row(m+" without them", "%", 0, at.Against(afresh, goesOn, m, Above))
	}
	h.Figure = "two hops"
	for _, m := range []string{idleHops, litHops} {
		h.Row(m, "%", 0, at[goesOn].Of(m))
	}
}

// parts runs joint on a ground, with circuits that go on or are all made afresh.
func (g ground) parts(ctx context.Context, b *Bench, system string, seed uint64) (Figures, error) {
	jobs, err := g.jobs(b, seed)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lightloom-parts-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ran, err := (&replay.Case{Options: scenario.Options{
		Fabric: g.fabric, On: OnFlowsim, Policies: []string{"joint"}, Given: jobs, Seed: seed,
		Rules: scenario.Rules{PerReservation: filepath.Join(dir, "reservations.jsonl")},
	}, With: func() controller.Policy {
		where, l, r := joint.NewJoint(anneal.Options{})
		l.Afresh = system == afresh
		return policy.Compose(where, l, r, new(share.TCP))
	}}).Run(ctx)
	if err != nil {
		return nil, err
	}
	f, w := readRun(ran), waited(ran.Usages)
	f[idleHops], f[litHops] = 100*w.share(w.Idle), 100*w.share(w.Lit)
	return f, nil
}

// waits sums over the pairs of racks of coflows how long they waited for their circuits: in all, while
// two circuits led there that nobody had, and while two led there at all.
type waits struct{ All, Idle, Lit time.Duration }

func (w *waits) share(of time.Duration) float64 { return of.Seconds() / max(w.All.Seconds(), 1e-9) }

// lightSpan is a time for which a circuit is lit.
type lightSpan struct{ from, to time.Duration }

// waited reads what came of a run's circuit reservations.
func waited(usages []loop.Usage) (out waits) {
	used := slices.DeleteFunc(slices.Clone(usages), func(u loop.Usage) bool { return u.InService == 0 })
	slices.SortStableFunc(used, func(a, b loop.Usage) int { return cmp.Compare(a.Begun, b.Begun) })
	type joins struct{ in, out southbound.Port }
	idle, lit := map[joins][]lightSpan{}, map[joins][]lightSpan{}
	first, ports := map[southbound.CoflowID]time.Duration{}, southbound.Port(0)
	for i := range used {
		u := &used[i]
		ports = max(ports, u.In+1, u.Out+1)
		if was, ok := first[u.Coflow]; !ok || u.Made < was {
			first[u.Coflow] = u.Made
		}
		until := southbound.Never // one of its ports is taken again
		for k := range used {
			if o := &used[k]; k != i && o.Begun >= u.Ended && (o.In == u.In || o.Out == u.Out) {
				until = o.Begun
				break
			}
		}
		at := joins{u.In, u.Out}
		idle[at] = append(idle[at], lightSpan{u.Ended, until})
		lit[at] = append(lit[at], lightSpan{u.InService, until})
	}
	seen := map[southbound.CoflowID]map[joins]bool{}
	for i := range used {
		u := &used[i]
		at := joins{u.In, u.Out}
		if seen[u.Coflow] == nil {
			seen[u.Coflow] = map[joins]bool{}
		}
		if seen[u.Coflow][at] {
			continue
		}
		seen[u.Coflow][at] = true
		wait := lightSpan{first[u.Coflow], u.InService}
		out.All += max(0, wait.to-wait.from)
		for _, x := range []struct {
			spans map[joins][]lightSpan
			sum   *time.Duration
		}{{idle, &out.Idle}, {lit, &out.Lit}} {
			var both []lightSpan
			for k := range ports {
				both = append(both, overlaps(wait, x.spans[joins{u.In, k}], x.spans[joins{k, u.Out}])...)
			}
			*x.sum += covered(both)
		}
	}
	return out
}

// overlaps returns when both of two circuits were lit within a span.
func overlaps(within lightSpan, a, b []lightSpan) (out []lightSpan) {
	for _, x := range a {
		for _, y := range b {
			if s := (lightSpan{max(x.from, y.from, within.from), min(x.to, y.to, within.to)}); s.from < s.to {
				out = append(out, s)
			}
		}
	}
	return out
}

// covered returns how much time spans cover together.
func covered(spans []lightSpan) (sum time.Duration) {
	slices.SortFunc(spans, func(a, b lightSpan) int { return cmp.Compare(a.from, b.from) })
	end := time.Duration(0)
	for _, s := range spans {
		sum += max(0, s.to-max(s.from, end))
		end = max(end, s.to)
	}
	return sum
}
