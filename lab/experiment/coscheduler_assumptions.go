package experiment

import (
	"context"
	"fmt"

	"lightloom/controller/workload/swim"
)

// runAssumptions halves and doubles each assumption of the job model.
func runAssumptions(ctx context.Context, b *Bench) (*Result, error) {
	type change struct {
		name string
		do   func(m *swim.Model, by float64)
	}
	changes := []change{
		{"map rate", func(m *swim.Model, by float64) { m.MapRate *= by }},
		{"reduce rate", func(m *swim.Model, by float64) { m.ReduceRate *= by }},
		{"block", func(m *swim.Model, by float64) { m.Block = scaleBytes(m.Block, by) }},
		{"shuffle bytes a reduce", func(m *swim.Model, by float64) { m.ReduceBytes = scaleBytes(m.ReduceBytes, by) }},
		{"most reduces", func(m *swim.Model, by float64) { m.MostReduces = int(float64(m.MostReduces) * by) }},
		{"far rate", func(m *swim.Model, by float64) { m.FarRate *= by }},
		{"time to start a task", func(m *swim.Model, by float64) { m.Start = scaleTime(m.Start, by) }},
		{"share recurring", func(m *swim.Model, by float64) { m.Recurring *= by }},
		{"error of predictions", func(m *swim.Model, by float64) { m.Error *= by }},
		{"users", func(m *swim.Model, by float64) { m.Users = int(float64(m.Users) * by) }},
	}
	out := &Result{Assumptions: assumed(swim.V1(12_000))}
	for _, load := range []float64{1, 10} {
		points := []cluster{}
		add := func(name string, do func(m *swim.Model)) {
			c := sectionVA()
			c.Model.Load = load
			do(&c.Model)
			c.Name = name
			points = append(points, c)
		}
		add("as it is", func(*swim.Model) {})
		for _, x := range changes {
			for _, by := range []float64{0.5, 2} {
				name := x.name + " halved"
				if by == 2 {
					name = x.name + " doubled"
				}
				add(name, func(m *swim.Model) { x.do(m, by); m.Name = "swim-v1, " + name })
			}
		}
		var settings []setting
		for _, c := range points {
			for _, s := range schedulers() {
				settings = append(settings, setting{c, s})
			}
		}
		got, err := measure(ctx, b, settings)
		if err != nil {
			return nil, err
		}
		for i, c := range points {
			out.Rows = append(out.Rows, boundRows(fmt.Sprintf("load ×%g, %s, Fair", load, c.Name), got[3*i], b.First)...)
			for k, base := range []string{"Fair", "Corral"} {
				for _, m := range metrics() {
					r := Row{Figure: "sensitivity", Setting: fmt.Sprintf("load ×%g, %s, Co-scheduler against %s", load, c.Name, base),
						Metric: m.name + " smaller by", Unit: "%"}
					out.Rows = append(out.Rows, r.Measure(reduction(got[3*i+2], got[3*i+k], m.of), b.First).
						Judge(0, "how much the conclusion hangs on the assumption"))
				}
			}
		}
	}
	return out, nil
}
