package experiment

import (
	"context"
	"fmt"

	"lightloom/controller/workload/swim"
)

// halvedAndDoubled are the cluster of section V-A as it is, and with each assumption of the job model
// changed.
func halvedAndDoubled(load float64) []cluster {
	as := func(name string) cluster {
		c := sectionVA()
		c.Model.Load = load
		c.Name = fmt.Sprintf("load ×%g, %s", load, name)
		return c
	}
	all := []cluster{as("as it is")}
	for _, x := range []struct {
		name   string
		change func(m *swim.Model, by float64)
	}{
		{"map rate", func(m *swim.Model, by float64) { m.MapRate *= by }},
		{"reduce rate", func(m *swim.Model, by float64) { m.ReduceRate *= by }},
		{"block", func(m *swim.Model, by float64) { m.Block = scaleBytes(m.Block, by) }},
		{"shuffle bytes a reduce", func(m *swim.Model, by float64) {
			m.ReduceBytes = scaleBytes(m.ReduceBytes, by)
		}},
		{"most reduces", func(m *swim.Model, by float64) { m.MostReduces = int(float64(m.MostReduces) * by) }},
		{"far rate", func(m *swim.Model, by float64) { m.FarRate *= by }},
		{"time to start a task", func(m *swim.Model, by float64) { m.Start = scaleTime(m.Start, by) }},
		{"share recurring", func(m *swim.Model, by float64) { m.Recurring *= by }},
		{"error of predictions", func(m *swim.Model, by float64) { m.Error *= by }},
		{"users", func(m *swim.Model, by float64) { m.Users = int(float64(m.Users) * by) }},
	} {
		half, twice := as(x.name+" halved"), as(x.name+" doubled")
		x.change(&half.Model, 0.5)
		x.change(&twice.Model, 2)
		all = append(all, half, twice)
	}
	return all
}

// runAssumptions halves and doubles each assumption of the job model.
func runAssumptions(ctx context.Context, b *Bench) (*Result, error) {
	rows := func(c cluster, out *Result, at Systems) {
		out.bounds(c.Name+", Fair", at["Fair"])
		for _, base := range []string{"Fair", "Corral"} {
			h := out.At("sensitivity", c.Name+", Co-scheduler against "+base,
				"how much the conclusion hangs on the assumption")
			for _, m := range metrics() {
				h.Row(m+" smaller by", "%", 0, at.Against(ours, base, m, Reduction))
			}
		}
	}
	return measure(ctx, b, b.Result(assumed(swim.V1(12_000))...),
		append(halvedAndDoubled(1), halvedAndDoubled(10)...), schedulers(), rows)
}
