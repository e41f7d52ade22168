package experiment

import (
	"context"
	_ "embed" // frozen
	"maps"
	"math"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/lab/report"
)

// The experiment joint-wide sets joint beside compositions of parts that decide apart, where tasks are
// free and the network binds. Seeds below heldOut choose the best composition on each ground: on the
// first three all run, on the others those that were near the best. frozen.csv names them, and was
// committed with joint before the published held-out seeds were run. These compare joint with the
// frozen ones.

// All compositions run on that many seeds. Those go on whose mean CCT is at most nearBest times that of
// the best.
const (
	firstSeeds = 3
	nearBest   = 1.5
)

//go:embed frozen.csv
var frozen string

// frozenRival returns the composition that frozen.csv names for a ground; empty if it names none.
func frozenRival(ground string) string {
	for line := range strings.Lines(frozen) {
		if of, who, ok := strings.Cut(strings.TrimSpace(line), ";"); ok && of == ground {
			return who
		}
	}
	return ""
}

// The roles of the experiment's policies.
const (
	composed = iota // parts that decide apart
	halfway         // joint's places with the circuits of others
	retied          // joint with another seed for ties: the A/A control
	together        // joint itself
)

// contestant is a policy of the experiment.
type contestant struct {
	rival
	role int
}

// placing makes the parts that place and route, circuit that which lays circuits.
type placing func() (policy.Part, *route.Annealed)
type circuit func() policy.Part

// contestants returns the policies, joint last. Every composition has joint's routes and TCP. Apart is
// joint's search over rack shapes for the packet network alone, with joint's circuits; sunflow-te0
// lights every pair.
func contestants() []contestant {
	bare := func(part func() policy.Part) placing {
		return func() (policy.Part, *route.Annealed) { return part(), new(route.Annealed) }
	}
	annealed := func() (policy.Part, *route.Annealed) { return joint.NewCrossLayer(anneal.Options{}) }
	joined := func() (policy.Part, *route.Annealed) {
		p, _, r := joint.NewJoint(anneal.Options{})
		return p, r
	}
	blind := func() (policy.Part, *route.Annealed) {
		p, _, r := joint.NewApart(anneal.Options{})
		return p, r
	}
	every := func() policy.Part { return circuits.Sunflow{Every: true}.Remembering() }
	epochs := func(c func() circuits.Epochs) circuit { return func() policy.Part { return c() } }
	elephants := func() policy.Part { return circuits.Sunflow{}.Remembering() }
	jointly := func() policy.Part {
		_, l, _ := joint.NewJoint(anneal.Options{})
		return l
	}
	packed := bare(func() policy.Part { return place.Packed{} })
	as := func(role int, name string, p placing, c circuit) contestant {
		return contestant{rival{name: name, with: func() controller.Policy {
			where, r := p()
			return policy.Compose(where, c(), r, new(share.TCP))
		}}, role}
	}
	again := as(retied, "joint, another seed for ties", joined, jointly)
	again.ties = 1000
	return []contestant{
		as(composed, "packed+sunflow", packed, elephants),
		as(composed, "packed+edmonds", packed, epochs(circuits.Edmonds)),
		as(composed, "packed+solstice", packed, epochs(circuits.Solstice)),
		as(composed, "packed+sunflow-te0", packed, every),
		as(composed, "packed+joint's circuits", packed, jointly),
		as(composed, "fair+sunflow-te0", bare(func() policy.Part { return new(place.Fair) }), every),
		as(composed, "corral+sunflow-te0", bare(func() policy.Part { return new(place.Corral) }), every),
		as(composed, "coscheduler+sunflow-te0", bare(func() policy.Part { return new(place.CoScheduler) }), every),
		as(composed, "neat+sunflow-te0", bare(func() policy.Part {
			return place.NewPacker(pushbox.NEAT,
				nil)
		}), every),
		as(composed, "crosslayer+joint's circuits", annealed, jointly),
		as(composed, "apart+sunflow", blind, elephants),
		as(composed, "apart", blind, jointly),
		as(halfway, "joint's places+sunflow", joined, elephants),
		as(halfway, "joint's places+edmonds", joined, epochs(circuits.Edmonds)),
		as(halfway, "joint's places+solstice", joined, epochs(circuits.Solstice)),
		again,
		as(together, "joint", joined, jointly),
	}
}

// entered returns who runs on a ground: everybody, or from heldOut on joint, its twin and the frozen
// rival. A ground that was never looked at has none: there all compositions run, and the best of these
// very runs is the rival.
func entered(ground string, seed uint64) []contestant {
	all, best := contestants(), frozenRival(ground)
	if seed < heldOut {
		return all
	}
	return slices.DeleteFunc(all, func(c contestant) bool {
		return c.role == halfway || c.role == composed && best != "" && c.name != best
	})
}

func runJointWide(ctx context.Context, b *Bench) (*Result, error) {
	n := 0
	if b.Quick {
		n = 6
	}
	var all []*matches
	out := b.Result(contestAssumptions()...)
	for _, g := range contested(n, b.First) {
		if g.there(b) {
			all = append(all, &matches{ground: g, who: entered(g.name, b.First)})
		} else {
			out.Notes = append(out.Notes, "left out, since its trace is not in the folder of --data: "+g.name)
		}
	}
	if err := contest(ctx, b, all); err != nil {
		return nil, err
	}
	for _, m := range all {
		m.rows(out)
	}
	holm(all, out)
	return out, nil
}

// contest runs everybody on the first seeds, and on all of them those who go on.
func contest(ctx context.Context, b *Bench, all []*matches) error {
	run := func(b *Bench, who func(m *matches) []contestant) error {
		got, err := CrossEach(ctx, b, all, who, (*matches).run)
		for i := range got {
			maps.Copy(all[i].got, got[i])
		}
		return err
	}
	for _, m := range all {
		m.got = Systems{}
	}
	few := &Bench{Seeds: min(firstSeeds, b.Seeds), First: b.First, On: b.On, Data: b.Data, Quick: b.Quick,
		Progress: b.Progress, Kept: b.Kept, Elsewhere: b.Elsewhere, Part: b.Part}
	err := run(few, func(m *matches) []contestant { return m.who })
	b.cuts = append(b.cuts, few.cuts...)
	if err != nil || few.Seeds == b.Seeds || len(few.cuts) > 0 {
		return err
	}
	return run(b, (*matches).goOn)
}

// matches are the runs of all who entered on one ground; the last of them is joint.
type matches struct {
	ground ground
	who    []contestant
	got    Systems
}

func (m *matches) String() string { return m.ground.name }

func (m *matches) run(ctx context.Context, b *Bench, c contestant, seed uint64) (Figures, error) {
	return m.ground.run(ctx, b, c.rival, seed)
}

// joint is the runs of the last.
func (m *matches) joint() Runs { return m.got[m.who[len(m.who)-1].name] }

// goOn lists who runs on more seeds than the first: joint, its twin, and the compositions that are near
// the best.
func (m *matches) goOn() (on []contestant) {
	most := nearBest * m.cct(m.rival())
	for _, c := range m.who {
		if c.role >= retied || c.role == composed && m.cct(c) <= most {
			on = append(on, c)
		}
	}
	return on
}

func (m *matches) cct(c contestant) float64 { return report.Mean(m.got[c.name].Of(meanCCT)) }

// rival returns the composition with the least mean CCT, of those that ran on all seeds.
func (m *matches) rival() (best contestant) {
	least := math.Inf(1)
	for _, c := range m.who {
		if c.role != composed || len(m.got[c.name]) < len(m.joint()) {
			continue
		}
		if cct := m.cct(c); cct < least {
			best, least = c, cct
		}
	}
	return best
}

// rows compares joint with each of the others, on the seeds on which these ran.
func (m *matches) rows(out *Result) {
	best := m.rival()
	for _, c := range m.who {
		at, got := m.ground.name+": "+c.name, m.got[c.name]
		cell, against := out.At("cell", at, ""), out.At("joint", m.ground.name+": joint against "+c.name, "")
		for _, x := range metrics() {
			cell.Row(x, "s", 0, got.Of(x))
			if c.role != together {
				against.Row(x, "%", 0, saved(m.joint(), got, x))
			}
		}
		if c.role != together {
			against.Row("jobs slower by over 5 %", "%", 0, slower(m.joint(), got))
		}
		if c.name == best.name {
			out.Rows[len(out.Rows)-1].Note = "the rival"
		}
		out.circuitShare(at, got)
		out.At("crossing", at, "").Row(crossed, "GB", 0,
			got.Each(func(f Figures) float64 { return 1000 * f[crossed] }))
		out.bounds(at, got)
	}
}

// saved is the reduction of a figure with its sign turned: below zero where ours is smaller.
func saved(ours, theirs Runs, metric string) []float64 {
	return ours.Against(theirs, metric, func(ours, theirs float64) float64 { return -Reduction(ours, theirs) })
}

// holm are the p-values of joint against the rival of each ground in mean JCT and mean CCT, corrected
// for their number.
func holm(all []*matches, out *Result) {
	var p []float64
	for _, m := range all {
		best := m.rival().name
		for _, x := range metrics()[1:] {
			v := m.joint().Against(m.got[best], x, Reduction)
			p = append(p, report.SignFlip(v, out.seed))
			out.Add(Row{Figure: "Holm", Setting: m.ground.name + ": joint against " + best,
				Metric: "p of " + x, N: len(v)})
		}
	}
	for i, v := range report.Holm(p) {
		r := &out.Rows[len(out.Rows)-len(p)+i]
		r.Measured = &v
		*r = r.Judge(0, "")
	}
}

// slower returns the share of jobs that take over 5 % longer under ours than under theirs, run by run.
func slower(ours, theirs Runs) []float64 {
	out := make([]float64, len(theirs))
	for run := range out {
		jobs := ours[run].jobs()
		for _, j := range jobs {
			if ours[run][j] > 1.05*theirs[run][j] {
				out[run] += 100 / float64(len(jobs))
			}
		}
	}
	return out
}
