package experiment

import (
	"context"
	"fmt"

	"lightloom/lab/report"
	"lightloom/lab/report/plot"
)

// An experiment is a table. Its places (settings, say a fabric under a load) and its systems (say
// schedulers) span the runs. A run returns Figures by name. Rows name the figure, what it is held
// against, and what the document has printed there:
//
//	func (l load) run(ctx context.Context, b *Bench, s scheduler, seed uint64) (Figures, error)
//
//	func (l load) rows(out *Result, at Systems) {
//		h := out.At("Figure 5", l.name, "arrivals are not published")
//		h.Row("mean JCT smaller by", "%", 61, at.Against("ours", "theirs", "mean JCT", Below))
//	}
//
//	return Fill(ctx, b, b.Result("one slot a host"), loads(), schedulers(), load.run, load.rows, HolmNote)

// Figures are what one run has measured, by name.
type Figures map[string]float64

// Runs are the figures of one system at one place, by seed.
type Runs []Figures

// Of returns one figure of every run. All runs must have it.
func (r Runs) Of(name string) []float64 {
	return r.Each(func(f Figures) float64 {
		v, ok := f[name]
		if !ok {
			panic("experiment: a run has no figure " + name)
		}
		return v
	})
}

// Each computes something of every run.
func (r Runs) Each(of func(Figures) float64) []float64 {
	out := make([]float64, len(r))
	for i, f := range r {
		out[i] = of(f)
	}
	return out
}

// Against compares a figure with the same one of others, run by run.
func (r Runs) Against(theirs Runs, name string, by Comparison) []float64 {
	return Compare(r.Of(name), theirs.Of(name), by)
}

// Comparison is how one number stands to another, which is above zero.
type Comparison func(ours, theirs float64) float64

// Above is by how many per cent ours is larger.
func Above(ours, theirs float64) float64 { return 100 * (ours/theirs - 1) }

// Below is by how many per cent ours is smaller.
func Below(ours, theirs float64) float64 { return 100 * (1 - ours/theirs) }

// Reduction is Below, rounded as Equation 14 of the Co-scheduler document rounds.
func Reduction(ours, theirs float64) float64 { return 100 * (theirs - ours) / theirs }

// Ratio is how many times as large ours is.
func Ratio(ours, theirs float64) float64 { return ours / theirs }

// Compare compares run by run; both are by seed. It leaves runs out in which there is nothing to
// compare with.
func Compare(ours, theirs []float64, by Comparison) []float64 {
	var out []float64
	for i := range min(len(ours), len(theirs)) {
		if theirs[i] > 0 {
			out = append(out, by(ours[i], theirs[i]))
		}
	}
	return out
}

// Systems are the runs at one place, by the name of the system.
type Systems map[string]Runs

// Against compares a figure of two systems, run by run.
func (s Systems) Against(ours, theirs, figure string, by Comparison) []float64 {
	return s[ours].Against(s[theirs], figure, by)
}

// Run makes one run of a system at a place: mostly the method expression of the place.
type Run[P, S any] = func(place P, ctx context.Context, b *Bench, system S, seed uint64) (Figures, error)

// Cross runs every system at every place with every seed. It returns the runs by place, in the order
// given. The name of a system is what fmt prints of it, and is its own at the place.
func Cross[P, S any](ctx context.Context, b *Bench, places []P, systems []S,
	run Run[P, S]) ([]Systems, error) {
	return CrossEach(ctx, b, places, func(P) []S { return systems }, run)
}

// CrossEach is Cross where places have systems of their own.
func CrossEach[P, S any](ctx context.Context, b *Bench, places []P, systems func(P) []S,
	run Run[P, S]) ([]Systems,
	error) {
	type point struct {
		at     int
		system S
	}
	var points []point
	for i, p := range places {
		for _, s := range systems(p) {
			points = append(points, point{i, s})
		}
	}
	name := func(x point) string { return fmt.Sprint(places[x.at], ", ", x.system) }
	got, err := Grid(ctx, b, points, name, func(ctx context.Context, x point, seed uint64) (Figures, error) {
		return run(places[x.at], ctx, b, x.system, seed)
	})
	if err != nil {
		return nil, err
	}

	out := make([]Systems, len(places))
	for k, x := range points {
		at, system := &out[x.at], fmt.Sprint(x.system)
		if *at == nil {
			*at = Systems{}
		}
		if (*at)[system] != nil {
			panic("experiment: two systems of one place are named " + system)
		}
		(*at)[system] = got[k]
	}
	return out, nil
}

// Fill runs every system at every place, and adds the rows of each place and notes on all of them to a
// result.
func Fill[P, S any](ctx context.Context, b *Bench, out *Result, places []P, systems []S, run Run[P, S],
	rows func(place P, out *Result, at Systems), notes ...func([]Row) string) (*Result, error) {
	got, err := Cross(ctx, b, places, systems, run)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		rows(p, out, got[i])
	}
	for _, note := range notes {
		out.Notes = append(out.Notes, note(out.Rows))
	}
	return out, nil
}

// Result begins the result of an experiment.
func (b *Bench) Result(assumptions ...string) *Result {
	return &Result{Assumptions: assumptions, seed: b.First}
}

// Head is what rows of a result have in common.
type Head struct {
	out             *Result
	Figure, Setting string
	Why             string // what a figure may differ for from the document's; the note where there is none
}

// At heads the rows of a figure in a setting.
func (r *Result) At(figure, setting, why string) Head { return Head{r, figure, setting, why} }

// Because is the head with another reason.
func (h Head) Because(why string) Head {
	h.Why = why
	return h
}

// Row adds a figure, one value a run, held against the document's. 0: the document has none, and the
// row makes no claim. As after all these methods, the row can be changed until the next one is added.
func (h Head) Row(metric, unit string, paper float64, v []float64) *Row {
	return h.Within(metric, unit, paper, 0, v)
}

// Within is Row with a margin of its own, as Judge has it.
func (h Head) Within(metric, unit string, paper, margin float64, v []float64) *Row {
	r := h.measured(metric, unit, v)
	if paper != 0 {
		r.Paper = &paper
	}
	*r = r.Judge(margin, h.Why)
	return r
}

// Exactly adds a figure that nothing random is in, held against the document's.
func (h Head) Exactly(metric, unit string, paper, margin, v float64) *Row {
	r := h.measured(metric, unit, []float64{v})
	r.Paper = &paper
	*r = r.JudgeExact(margin, h.Why)
	return r
}

// AtMost adds a figure that the document bounds from above, in all runs.
func (h Head) AtMost(metric, unit string, bound float64, v []float64) *Row {
	r := h.measured(metric, unit, v)
	r.Paper = &bound
	*r = r.JudgeAtMost(nil, h.Why)
	return r
}

// Order adds the share of runs in which ours is smaller by more than least per cent; gap is by how many
// it is.
func (h Head) Order(metric string, least float64, gap []float64) *Row {
	ahead := make([]float64, len(gap))
	for i, x := range gap {
		if x > least {
			ahead[i] = 100
		}
	}
	h.Figure += ", order"
	r := h.measured(metric, "%", ahead)
	*r = r.JudgeOrder(Row{}.Measure(gap, h.out.seed))
	return r
}

// Trend adds by how many per cent a figure grows over an axis, where the document says that it rises,
// or falls.
func (h Head) Trend(metric string, falls bool, v []float64) *Row {
	h.Figure += ", trend"
	r := h.measured(metric, "%", v)
	*r = r.JudgeRise(falls)
	return r
}

func (h Head) measured(metric, unit string, v []float64) *Row {
	r := Row{Figure: h.Figure, Setting: h.Setting, Metric: metric, Unit: unit}
	return h.out.Add(r.Measure(v, h.out.seed))
}

// Add adds a row.
func (r *Result) Add(row Row) *Row {
	r.Rows = append(r.Rows, row)
	return &r.Rows[len(r.Rows)-1]
}

// point appends the mean of one value a run to a line, with its interval.
func point(l *plot.Line, x float64, v []float64, seed uint64) {
	mean := report.Bootstrap(v, seed)
	l.X, l.Y = append(l.X, x), append(l.Y, mean.Mean)
	l.Low, l.High = append(l.Low, mean.Low), append(l.High, mean.High)
}
