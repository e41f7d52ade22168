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

// The experiment joint-parts measures two ideas about circuits that stand: that coflows of the same racks share and
// extend them, and that bytes go over two of them where that is sooner than waiting for one.

// The grounds of joint-wide on which joint beats its rivals.
var partsGrounds = []string{"busier", "dark 200 ms", "SWIM, 20 % heavy, dark 500ms, offered 50 %",
	"SWIM, 60 % heavy, dark 500ms, offered 90 %"}

func jointParts() Experiment {
	return Experiment{Name: "joint-parts", Doc: "what joint gains by circuits that go on, and how often two circuits " +
		"lead to where a coflow waits for one", Source: "wide shuffles and SWIM traces", Seeds: 10, On: []string{OnFlowsim},
		Run: runJointParts}
}

// parted are the figures of a run, and how coflows waited in it.
type parted struct {
	Figures *figures
	Waits   waits
}

func runJointParts(ctx context.Context, b *Bench) (*Result, error) {
	n := 0
	if b.Quick {
		n = 6
	}
	type point struct {
		ground
		afresh bool
	}
	var points []point
	for _, g := range contested(n, b.First) {
		if slices.Contains(partsGrounds, g.name) && (!g.source.data || b.Data != "") {
			points = append(points, point{g, false}, point{g, true})
		}
	}
	got, err := Grid(ctx, b, points, func(p point) string { return p.name },
		func(ctx context.Context, p point, seed uint64) (*parted, error) {
			jobs, err := p.jobs(b, seed)
			if err != nil {
				return nil, err
			}
			dir, err := os.MkdirTemp("", "lightloom-parts-")
			if err != nil {
				return nil, err
			}
			defer os.RemoveAll(dir)
			ran, err := (&replay.Case{Fabric: p.fabric, On: OnFlowsim, Policy: "joint", Jobs: jobs, Seed: seed,
				Rules: scenario.Rules{PerReservation: filepath.Join(dir, "reservations.jsonl")},
				With: func() controller.Policy {
					where, l, r := joint.NewJoint(anneal.Options{})
					l.Afresh = p.afresh
					return policy.Compose(where, l, r, new(share.TCP))
				}}).Run(ctx)
			if err != nil {
				return nil, err
			}
			return &parted{readRun(ran), waited(ran.Usages)}, nil
		})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: append(contestAssumptions(), "a pair of racks waits from the first reservation of its "+
		"coflow until its circuit is in service")}
	for i := 0; i < len(points); i += 2 {
		out.Rows = append(out.Rows, partsRows(points[i].name, got[i], got[i+1], b.First)...)
	}
	return out, nil
}

// partsRows are those of one ground: joint, and joint whose circuits never go on.
func partsRows(ground string, joint, afresh []*parted, seed uint64) (out []Row) {
	add := func(figure, metric, unit string, of func(k int) float64) {
		v := make([]float64, len(joint))
		for k := range v {
			v[k] = of(k)
		}
		out = append(out, Row{Figure: figure, Setting: ground, Metric: metric, Unit: unit}.Measure(v, seed).Judge(0, ""))
	}
	for _, m := range metrics()[1:] {
		add("circuits that go on", m.name+" without them", "%", func(k int) float64 {
			return 100 * (m.of(afresh[k].Figures)/m.of(joint[k].Figures) - 1)
		})
	}
	add("two hops", "waiting while two circuits lead there that carry nothing", "%",
		func(k int) float64 { return 100 * joint[k].Waits.share(joint[k].Waits.Idle) })
	add("two hops", "waiting while two circuits lead there", "%",
		func(k int) float64 { return 100 * joint[k].Waits.share(joint[k].Waits.Lit) })
	return out
}

// waits sums over the pairs of racks of coflows how long they waited for their circuits: in all, while two circuits led
// there that nobody had, and while two led there at all.
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
