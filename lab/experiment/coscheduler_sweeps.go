package experiment

import (
	"context"
	"fmt"

	"lightloom/controller/policy/guideline"
	"lightloom/controller/policy/place"
	"lightloom/controller/workload/swim"
	"lightloom/lab/report/plot"
)

// Figures 7 to 10, each at every offered load.

const little = "the offered load of the public trace is small"

func runMechanisms(ctx context.Context, b *Bench) (*Result, error) {
	steps := []scheduler{
		variant("OCAS", func() *place.CoScheduler { return &place.CoScheduler{NoData: true} }),
		variant("DP + OCAS", func() *place.CoScheduler { return &place.CoScheduler{NoReduces: true} }),
		variant("DP + TP + BSS + OCAS", func() *place.CoScheduler { return new(place.CoScheduler) }),
		variant("all, strict", func() *place.CoScheduler { return &place.CoScheduler{Strict: true} }),
		variant("all, by Equation 10", func() *place.CoScheduler { return &place.CoScheduler{Form: guideline.Equation10} }),
	}
	paper := map[string]map[string]float64{"DP + OCAS": {makespan: 16, meanJCT: 21, meanCCT: 25}}
	rows := func(c cluster, out *Result, at Systems) {
		out.bounds(c.Name+", OCAS", at["OCAS"])
		for _, s := range steps {
			h := out.At("Figure 7", c.Name+", "+s.name, "")
			for _, m := range []string{busiestUp, busiestDown, overOCS} {
				h.Row(m, "%", 0, at[s.name].Of(m))
			}
		}
		for _, s := range steps[1:] {
			h := out.At("Figure 7", c.Name+", "+s.name+" against OCAS", little)
			for _, m := range metrics() {
				h.smaller(at[s.name], at["OCAS"], m, c.ifPublished(paper[s.name][m]))
			}
		}
	}
	out, err := measure(ctx, b, b.Result(assumed(swim.V1(12_000))...), offered(b), steps, rows, HolmNote)
	if err == nil {
		out.Notes = append(out.Notes, "the bars of Figure 7 beside these three numbers are a picture")
	}
	return out, err
}

// series is a figure whose horizontal axis is a setting of the cluster.
type series struct {
	figure, axis, name string
	x                  []float64
	base               int // of x: what Fair's figures there are is 1
	at                 func(x float64) cluster
}

// sweep measures all schedulers along a figure's axis, at every offered load.
func sweep(ctx context.Context, b *Bench, f series) (*Result, error) {
	var places []cluster
	for _, o := range offers(b) {
		for _, x := range f.x {
			c := f.at(x)
			c.offer(o)
			c.Name = fmt.Sprintf("%v, %s %g", o, f.axis, x)
			places = append(places, c)
		}
	}
	var got []Systems
	rows := func(_ cluster, out *Result, at Systems) {
		if got = append(got, at); len(got)%len(f.x) == 0 {
			end := len(got)
			f.rows(out, places[end-len(f.x):end], got[end-len(f.x):])
		}
	}
	return measure(ctx, b, b.Result(assumed(f.at(f.x[f.base]).Model)...), places, schedulers(), rows, HolmNote)
}

// rows adds the rows and pictures of one offered load.
func (f *series) rows(out *Result, places []cluster, got []Systems) {
	fair, o := got[f.base]["Fair"], offer{places[0].Model.Load, places[0].Without}
	for _, m := range metrics() {
		p := plot.Chart{Name: f.name + o.suffix() + "-" + fileOf(m),
			Title: f.figure + ", " + o.String() + ": " + m, X: f.axis,
			Y: m + " ÷ Fair's"}
		for _, s := range schedulers() {
			l := plot.Line{Name: s.name}
			for i, c := range places {
				h := out.At(f.figure, c.Name+", "+s.name, onlyPicture)
				v := got[i][s.name].Against(fair, m, Ratio)
				h.Row(fmt.Sprintf("%s ÷ Fair's at %g", m, f.x[f.base]), "", 0, v)
				if len(v) > 0 {
					point(&l, f.x[i], v, out.seed)
				}
			}
			p.Lines = append(p.Lines, l)
		}
		out.Pictures = append(out.Pictures, p)
	}
	for i, c := range places {
		out.bounds(c.Name+", Fair", got[i]["Fair"])
		out.orderings(f.figure, c.Name, got[i])
	}
}

func runOversubscription(ctx context.Context, b *Bench) (*Result, error) {
	return sweep(ctx, b, series{"Figure 8", "oversubscription", "oversubscription",
		[]float64{3, 5, 10, 15, 20}, 2,
		func(x float64) cluster {
			c := sectionVA()
			c.Fabric = clusterFabric(x)
			return c
		}})
}

func runRecurring(ctx context.Context, b *Bench) (*Result, error) {
	return sweep(ctx, b, series{"Figure 9", "% recurring", "recurring", []float64{0, 25, 50, 75, 100}, 2,
		func(x float64) cluster {
			c := sectionVA()
			c.Model.Recurring = x / 100
			return c
		}})
}

// estimation is Co-scheduler with errors of the remaining time up to so many per cent.
func estimation(percent float64) scheduler {
	return variant(fmt.Sprintf("Co-scheduler, T_rem off by up to %g %%", percent), func() *place.CoScheduler {
		return &place.CoScheduler{Error: percent / 100}
	})
}

// runEstimation is Figure 10. Fair and Corral do not use remaining times.
func runEstimation(ctx context.Context, b *Bench) (*Result, error) {
	x := []float64{0, 10, 20, 30, 40, 50}
	who := schedulers()[:2]
	for _, e := range x {
		who = append(who, estimation(e))
	}
	rows := func(c cluster, out *Result, at Systems) {
		out.bounds(c.Name+", Fair", at["Fair"])
		estimationRows(&c, x, at, out)
	}
	return measure(ctx, b, b.Result(assumed(sectionVA().Model)...), offered(b), who, rows, HolmNote)
}

// estimationRows are those of one offered load.
func estimationRows(c *cluster, x []float64, at Systems, out *Result) {
	exact := estimation(0).name
	for _, base := range []struct {
		name, system string
		paper        map[string]float64 // at an error of 50 %
	}{
		{"Fair", "Fair", map[string]float64{makespan: 43, meanJCT: 51}},
		{"Corral", "Corral", map[string]float64{makespan: 18, meanJCT: 21}},
		{"no error", exact, nil},
	} {
		for _, e := range x {
			system, paper := estimation(e).name, base.paper
			if system == base.system {
				continue
			}
			if e != 50 {
				paper = nil
			}
			h := out.At("Figure 10", fmt.Sprintf("%s, error up to %g %%, Co-scheduler against %s", c.Name,
				e, base.name), little)
			for _, m := range metrics() {
				h.smaller(at[system], at[base.system], m, c.ifPublished(paper[m]))
			}
		}
	}
}
