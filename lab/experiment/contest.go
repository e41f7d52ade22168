package experiment

import (
	"context"
	_ "embed" // frozen
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
	"lightloom/lab/experiment/numbers"
	"lightloom/lab/report"
)

// The experiment joint-wide sets joint beside compositions of parts that decide apart, where tasks are free and the
// network binds. Seeds below heldOut choose the best composition on each ground: on the first three all run, on the
// others those that were near the best. frozen.csv names them, and was committed with joint before the published
// held-out seeds were run. These compare joint with the frozen ones.

// All compositions run on that many seeds. Those go on whose mean CCT is at most nearBest times that of the best.
const (
	firstSeeds = 3
	nearBest   = 1.5
)

func jointWide() Experiment {
	return Experiment{Name: "joint-wide", Doc: "joint beside compositions of separate parts where the network binds; " +
		"from --seed 1001 on beside the frozen rivals only",
		Source: "wide shuffles, SWIM and Facebook traces",
		Seeds:  20, On: []string{OnFlowsim}, Run: runJointWide}
}

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

// contestants returns the policies, joint last. Every composition has joint's routes and TCP. Apart is joint's search
// over rack shapes for the packet network alone, with joint's circuits; sunflow-te0 lights every pair.
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
		as(composed, "neat+sunflow-te0", bare(func() policy.Part { return place.NewPacker(pushbox.NEAT, nil) }), every),
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

// entered returns who runs on a ground: everybody, or from heldOut on joint, its twin and the frozen rival. A ground
// that was never looked at has none: there all compositions run, and the best of these very runs is the rival.
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
	type point struct {
		ground
		contestant
	}
	var points []point
	out := &Result{Assumptions: contestAssumptions()}
	for _, g := range contested(n, b.First) {
		if !g.there(b) {
			out.Notes = append(out.Notes, "left out, since its trace is not in the folder of --data: "+g.name)
			continue
		}
		for _, c := range entered(g.name, b.First) {
			points = append(points, point{g, c})
		}
	}
	run := func(b *Bench, points []point) ([][]*figures, error) {
		return Grid(ctx, b, points, func(p point) string { return p.ground.name + ": " + p.contestant.name },
			func(ctx context.Context, p point, seed uint64) (*figures, error) {
				return p.ground.run(ctx, b, p.contestant.rival, seed)
			})
	}
	sets := func(points []point, got [][]*figures) (all []matches) {
		for i := 0; i < len(points); {
			m := matches{ground: points[i].ground.name, seed: b.First}
			for ; i < len(points) && points[i].ground.name == m.ground; i++ {
				m.who, m.got = append(m.who, points[i].contestant), append(m.got, got[i])
			}
			all = append(all, m)
		}
		return all
	}
	few := &Bench{Seeds: min(firstSeeds, b.Seeds), First: b.First, On: b.On, Data: b.Data, Quick: b.Quick,
		Progress: b.Progress, Kept: b.Kept}
	got, err := run(few, points)
	if err != nil {
		return nil, err
	}
	all := sets(points, got)
	if b.cuts = append(b.cuts, few.cuts...); few.Seeds < b.Seeds && len(few.cuts) == 0 {
		var on []point
		var index []int
		for i := range points {
			m := &all[slices.IndexFunc(all, func(m matches) bool { return m.ground == points[i].name })]
			if m.goesOn(points[i].contestant, got[i]) {
				on, index = append(on, points[i]), append(index, i)
			}
		}
		more, err := run(b, on)
		if err != nil {
			return nil, err
		}
		for k, i := range index {
			got[i] = more[k]
		}
		all = sets(points, got)
	}
	for i := range all {
		out.Rows = append(out.Rows, all[i].rows()...)
	}
	out.Rows = append(out.Rows, holm(all)...)
	return out, nil
}

// matches are the runs of all who entered on one ground; the last of them is joint.
type matches struct {
	ground string
	seed   uint64
	who    []contestant
	got    [][]*figures
}

// goesOn reports whether a contestant runs on more seeds than the first: joint, its twin, and a composition that is
// near the best.
func (m *matches) goesOn(c contestant, got []*figures) bool {
	if c.role != composed {
		return c.role != halfway
	}
	cct := metrics()[2].of
	return numbers.Mean(column(got, cct)) <= nearBest*numbers.Mean(column(m.got[m.rivalIndex()], cct))
}

// rivalIndex returns the composition with the least mean CCT, of those that ran on all seeds.
func (m *matches) rivalIndex() int {
	best, least, all := -1, 0.0, len(m.got[len(m.got)-1])
	for k, c := range m.who {
		if c.role != composed || len(m.got[k]) < all {
			continue
		}
		if cct := numbers.Mean(column(m.got[k], metrics()[2].of)); best < 0 || cct < least {
			best, least = k, cct
		}
	}
	return best
}

// rows compares joint with each of the others.
func (m *matches) rows() []Row {
	var rows []Row
	add := func(figure, who, metric, unit string, v []float64) {
		r := Row{Figure: figure, Setting: m.ground + ": " + who, Metric: metric, Unit: unit}
		rows = append(rows, r.Measure(v, m.seed).Judge(0, ""))
	}
	last, best := len(m.who)-1, m.rivalIndex()
	for k, c := range m.who {
		ours := m.got[last][:len(m.got[k])] // on the seeds on which it ran
		for _, x := range metrics() {
			add("cell", c.name, x.name, "s", column(m.got[k], x.of))
			if k < last {
				add("joint", "joint against "+c.name, x.name, "%", scaled(reduction(ours, m.got[k], x.of), -1))
			}
		}
		if k < last {
			add("joint", "joint against "+c.name, "jobs slower by over 5 %", "%", slower(ours, m.got[k]))
		}
		if k == best {
			rows[len(rows)-1].Note = "the rival"
		}
		rows = append(rows, circuitShare(m.ground+": "+c.name, m.got[k], m.seed))
		add("crossing", c.name, "bytes between racks", "GB",
			scaled(column(m.got[k], func(f *figures) float64 { return f.Crossed }), 1000))
		rows = append(rows, boundRows(m.ground+": "+c.name, m.got[k], m.seed)...)
	}
	return rows
}

// holm are the p-values of joint against the rival of each ground in mean JCT and mean CCT, corrected for their number.
func holm(all []matches) []Row {
	var rows []Row
	var p []float64
	for i := range all {
		m := &all[i]
		best := m.rivalIndex()
		for _, x := range metrics()[1:] {
			v := reduction(m.got[len(m.who)-1], m.got[best], x.of)
			p = append(p, report.SignFlip(v, m.seed))
			rows = append(rows, Row{Figure: "Holm", Setting: m.ground + ": joint against " + m.who[best].name,
				Metric: "p of " + x.name, N: len(v)})
		}
	}
	for i, v := range report.Holm(p) {
		rows[i].Measured = Number(v)
		rows[i] = rows[i].Judge(0, "")
	}
	return rows
}

// slower returns the share of jobs that take over 5 % longer under ours than under theirs, run by run.
func slower(ours, theirs []*figures) []float64 {
	out := make([]float64, len(ours))
	for run := range ours {
		for i, t := range ours[run].Took {
			if t > 1.05*theirs[run].Took[i] {
				out[run] += 100 / float64(len(ours[run].Took))
			}
		}
	}
	return out
}
