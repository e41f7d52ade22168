package experiment

import (
	"context"
	"fmt"

	"lightloom/controller/policy/guideline"
	"lightloom/controller/policy/place"
	"lightloom/controller/workload/swim"
)

// Figures 7 to 10, each at every offered load.

func runMechanisms(ctx context.Context, b *Bench) (*Result, error) {
	steps := []scheduler{
		variant("OCAS", func() *place.CoScheduler { return &place.CoScheduler{NoData: true} }),
		variant("DP + OCAS", func() *place.CoScheduler { return &place.CoScheduler{NoReduces: true} }),
		variant("DP + TP + BSS + OCAS", func() *place.CoScheduler { return new(place.CoScheduler) }),
		variant("all, strict", func() *place.CoScheduler { return &place.CoScheduler{Strict: true} }),
		variant("all, by Equation 10", func() *place.CoScheduler { return &place.CoScheduler{Form: guideline.Equation10} }),
	}
	out := &Result{Assumptions: assumed(swim.V1(12_000))}
	paper := map[string]float64{"makespan": 16, "mean JCT": 21, "mean CCT": 25}
	err := measureOffers(ctx, b, steps, func(c *cluster, got [][]*figures) {
		out.Rows = append(out.Rows, boundRows(c.Name+", OCAS", got[0], b.First)...)
		for k := range steps {
			out.Rows = append(out.Rows, uplinkRows(c.Name+", "+steps[k].name, got[k], b.First)...)
		}
		for k := 1; k < len(steps); k++ {
			for _, m := range metrics() {
				r := Row{Figure: "Figure 7", Setting: c.Name + ", " + steps[k].name + " against OCAS", Metric: m.name +
					" smaller by", Unit: "%"}
				if k == 1 && c.published() {
					r.Paper = Number(paper[m.name])
				}
				r = r.Measure(reduction(got[k], got[0], m.of), b.First)
				out.Rows = append(out.Rows, r.Judge(0, little+asked(r)).reachable(got[0], m, b.First))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out.Notes = []string{HolmNote(out.Rows), "the bars of Figure 7 beside these three numbers are a picture"}
	return out, nil
}

// uplinkRows say by uplink how a step's large shuffles lie.
func uplinkRows(name string, got []*figures, seed uint64) (rows []Row) {
	for _, m := range []metric{
		{"large shuffles: bytes that the busiest rack sends", "", func(f *figures) float64 { return 100 * f.Up }},
		{"large shuffles: bytes that the busiest rack receives", "", func(f *figures) float64 { return 100 * f.Down }},
		{"bytes between racks over circuits", "", func(f *figures) float64 { return 100 * f.OCS }},
	} {
		rows = append(rows, Row{Figure: "Figure 7", Setting: name, Metric: m.name, Unit: "%"}.
			Measure(column(got, m.of), seed).Judge(0, ""))
	}
	return rows
}

const little = "the offered load of the public trace is small"

// series is a figure whose horizontal axis is a setting of the cluster.
type series struct {
	figure, axis, name string
	x                  []float64
	base               int // of x: what Fair's figures there are is 1
	at                 func(x float64) cluster
}

// sweep measures all schedulers along a figure's axis, at every offered load.
func sweep(ctx context.Context, b *Bench, f series) (*Result, error) {
	out := &Result{Assumptions: assumed(f.at(f.x[f.base]).Model)}
	for _, o := range offers(b) {
		var settings []setting
		for _, x := range f.x {
			c := f.at(x)
			c.offer(o)
			c.Name = fmt.Sprintf("%v, %s %g", o, f.axis, x)
			for _, s := range schedulers() {
				settings = append(settings, setting{c, s})
			}
		}
		got, err := measure(ctx, b, settings)
		if err != nil {
			return nil, err
		}
		f.rows(out, o, got, b.First)
	}
	out.Notes = []string{HolmNote(out.Rows)}
	return out, nil
}

// rows adds the rows and pictures of one offered load. got is by (x, scheduler).
func (f *series) rows(out *Result, o offer, got [][]*figures, seed uint64) {
	who := schedulers()
	for _, m := range metrics() {
		p := Picture{Name: f.name + o.suffix() + "-" + m.file, Title: f.figure + ", " + o.String() + ": " + m.name, X: f.axis,
			Y: m.name + " ÷ Fair's"}
		for k, s := range who {
			l := Line{Name: s.name}
			for i, x := range f.x {
				var ratio []float64
				for run := range got[i*len(who)+k] {
					if fair := m.of(got[f.base*len(who)][run]); fair > 0 {
						ratio = append(ratio, m.of(got[i*len(who)+k][run])/fair)
					}
				}
				r := Row{Figure: f.figure, Setting: fmt.Sprintf("%v, %s %g, %s", o, f.axis, x, s.name),
					Metric: fmt.Sprintf("%s ÷ Fair's at %g", m.name, f.x[f.base])}.
					Measure(ratio, seed).Judge(0, "the figure is a picture without numbers")
				out.Rows = append(out.Rows, r)
				if r.Measured != nil {
					l.X, l.Y, l.Low, l.High = append(l.X, x), append(l.Y, *r.Measured), append(l.Low, *r.Low), append(l.High, *r.High)
				}
			}
			p.Lines = append(p.Lines, l)
		}
		out.Pictures = append(out.Pictures, p)
	}
	for i, x := range f.x {
		out.Rows = append(out.Rows, boundRows(fmt.Sprintf("%v, %s %g, Fair", o, f.axis, x), got[i*len(who)], seed)...)
		out.Rows = append(out.Rows, orderings(f.figure, fmt.Sprintf("%v, %s %g", o, f.axis, x),
			got[i*len(who):(i+1)*len(who)], seed)...)
	}
}

func runOversubscription(ctx context.Context, b *Bench) (*Result, error) {
	return sweep(ctx, b, series{"Figure 8", "oversubscription", "oversubscription", []float64{3, 5, 10, 15, 20}, 2,
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

// measureOffers runs schedulers on the cluster of section V-A under each offered load, and passes their figures to
// rows, by scheduler and seed.
func measureOffers(ctx context.Context, b *Bench, who []scheduler, rows func(c *cluster, got [][]*figures)) error {
	for _, o := range offers(b) {
		c := sectionVA()
		c.offer(o)
		c.Name = o.String()
		var settings []setting
		for _, s := range who {
			settings = append(settings, setting{c, s})
		}
		got, err := measure(ctx, b, settings)
		if err != nil {
			return err
		}
		rows(&c, got)
	}
	return nil
}

// runEstimation is Figure 10. Fair and Corral do not use remaining times.
func runEstimation(ctx context.Context, b *Bench) (*Result, error) {
	x := []float64{0, 10, 20, 30, 40, 50}
	who := schedulers()[:2]
	for _, e := range x {
		who = append(who, variant(fmt.Sprintf("Co-scheduler, T_rem off by up to %g %%", e), func() *place.CoScheduler {
			return &place.CoScheduler{Error: e / 100}
		}))
	}
	out := &Result{Assumptions: assumed(sectionVA().Model)}
	err := measureOffers(ctx, b, who, func(c *cluster, got [][]*figures) {
		out.Rows = append(out.Rows, boundRows(c.Name+", Fair", got[0], b.First)...)
		out.Rows = append(out.Rows, estimationRows(c, x, got, b.First)...)
	})
	if err != nil {
		return nil, err
	}
	out.Notes = []string{HolmNote(out.Rows)}
	return out, nil
}

// estimationRows are those of one offered load. got is of Fair, of Corral, and of Co-scheduler by error.
func estimationRows(c *cluster, x []float64, got [][]*figures, seed uint64) []Row {
	paper := [2]map[string]float64{{"makespan": 43, "mean JCT": 51}, {"makespan": 18, "mean JCT": 21}}
	var rows []Row
	for k, base := range []string{"Fair", "Corral", "no error"} {
		for i, e := range x {
			if k == 2 && i == 0 {
				continue
			}
			for _, m := range metrics() {
				r := Row{Figure: "Figure 10", Setting: fmt.Sprintf("%s, error up to %g %%, Co-scheduler against %s", c.Name, e,
					base), Metric: m.name + " smaller by", Unit: "%"}
				if k < 2 && e == 50 && c.published() {
					if v, ok := paper[k][m.name]; ok {
						r.Paper = Number(v)
					}
				}
				r = r.Measure(reduction(got[i+2], got[k], m.of), seed)
				rows = append(rows, r.Judge(0, little+asked(r)).reachable(got[min(k, 2)], m, seed))
			}
		}
	}
	return rows
}
