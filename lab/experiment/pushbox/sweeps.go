package pushbox

import (
	"context"
	"fmt"

	"lightloom/controller/policy/place"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
)

// axis is one axis of Figures 10 to 13.
type axis struct {
	figure, name string
	x            []float64
	at           func(x float64, m *workload.MapReduce) string // fabric
	mean, tail   [3][2]float64                                 // least and most for Hadoop, ShuffleWatcher and NEAT
	falls        [4]bool                                       // whether those and PushBox become faster along it
}

func axes() []axis {
	return []axis{
		{"Figure 10", "oversubscription", []float64{1, 2, 4, 6}, func(x float64, _ *workload.MapReduce) string {
			return clusters(x)
		}, [3][2]float64{{31.7, 65.5}, {23.7, 48.8}, {21.8, 56.6}}, [3][2]float64{{30.1, 50.9}, {30.3, 47.0}, {29.4, 51.9}},
			[4]bool{}},
		{"Figure 11", "machines", []float64{10, 20, 50, 110}, func(x float64, _ *workload.MapReduce) string {
			return machines(int(x), 20, "10Gbps")
		}, [3][2]float64{{22.7, 67.0}, {17.3, 43.0}, {13.2, 57.9}}, [3][2]float64{{24.9, 66.2}, {19.1, 57.9}, {23.77, 63.0}},
			[4]bool{true, true, true, true}},
		{"Figure 12", "slots", []float64{8, 12, 16, 20}, func(x float64, _ *workload.MapReduce) string {
			return machines(20, int(x), "10Gbps")
		}, [3][2]float64{{31.3, 57.5}, {22.9, 40.0}, {21.7, 53.1}}, [3][2]float64{{4.5, 40.2}, {6.9, 33.0}, {4.9, 39.2}},
			[4]bool{false, true, false, true}},
		{"Figure 13", "load", []float64{0.5, 1, 1.5, 2}, func(x float64, m *workload.MapReduce) string {
			m.Times = x
			return machines(20, 20, "10Gbps")
		}, [3][2]float64{{51.3, 64.9}, {35.9, 41.5}, {46.4, 58.7}}, [3][2]float64{{33.8, 67.0}, {27.5, 56.3}, {33.2, 66.8}},
			[4]bool{}},
	}
}

// runPushBoxSweeps is Figures 10 to 13.
func runPushBoxSweeps(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	var all []farm
	for _, s := range axes() {
		for _, x := range s.x {
			model := workload.FacebookV1()
			fabric := s.at(x, &model)
			for _, p := range rivals(share.FairIntent) {
				all = append(all, farm{fmt.Sprintf("%s %g", s.name, x), fabric, model, false, p})
			}
		}
	}
	light := rivals(share.FairIntent)[3]
	light.name, light.sunflow = "PushBox+sunflow", true
	hybrid := "hybrid:racks=4,hosts=16,slots=20,spines=1,nic=10Gbps,eps=40Gbps,ocs=100Gbps,dark=10ms"
	all = append(all, farm{"oversubscription 4 and an optical switch", hybrid, workload.FacebookV1(), false, light})
	got, err := farms(ctx, b, all)
	if err != nil {
		return nil, err
	}
	model := workload.FacebookV1()
	out := &experiment.Result{Assumptions: append(model.Lines(),
		"Fair; the document gives the range over each axis only: a point "+
			"counts as reproduced inside it")}
	at := 0
	for _, s := range axes() {
		n := 4 * len(s.x)
		out.Rows = append(out.Rows, s.rows(b, all[at:at+n], got[at:at+n])...)
		out.Pictures = append(out.Pictures, s.picture(all[at:at+n], got[at:at+n]))
		at += n
	}
	out.Rows = append(out.Rows, experiment.Row{Figure: "none", Setting: all[at].name, Unit: "s",
		Metric: "mean job completion time, PushBox+sunflow"}.Measure(pick(got[at], meanOf), b.First).Judge(0, "ours"))
	out.Notes = []string{experiment.HolmNote(out.Rows)}
	return out, nil
}

// rows are sizes and orders at each point, and the trend of each scheduler from the first to the last.
func (s *axis) rows(b *experiment.Bench, all []farm, got [][]*spans) []experiment.Row {
	var rows []experiment.Row
	for i, x := range s.x {
		ours, setting := got[4*i+3], fmt.Sprintf("%s %g", s.name, x)
		for k := range 3 {
			theirs, name := got[4*i+k], all[4*i+k].packing.name
			for _, m := range []struct {
				name string
				of   func(*spans) float64
				in   [2]float64
			}{{"mean job completion time", meanOf, s.mean[k]}, {"99th percentile", p99Of, s.tail[k]}} {
				low, high := m.in[0], m.in[1]
				rows = append(rows, experiment.Row{Figure: s.figure, Setting: setting, Unit: "%",
					Paper:  experiment.Number((low + high) / 2),
					Metric: m.name + " shorter than " + name + "'s by"}.
					Measure(shorter(pick(ours, m.of), pick(theirs, m.of)), b.First).Judge((high-low)/2,
					fmt.Sprintf("the document: %g to %g over the axis; %s", low, high, whyPushBox)))
			}
			rows = append(rows, ahead(s.figure, setting, name, pick(ours, meanOf), pick(theirs, meanOf), b.First))
		}
		for k := range 4 {
			rows = append(rows, experiment.Row{Figure: s.figure, Setting: setting, Unit: "s",
				Metric: "mean job completion time, " +
					all[4*i+k].packing.name}.Measure(pick(got[4*i+k], meanOf), b.First).Judge(0, "ours"))
		}
	}
	last := 4 * (len(s.x) - 1)
	for k := range 4 {
		r := experiment.Row{Figure: s.figure + ", trend", Unit: "%",
			Setting: fmt.Sprintf("%s %g to %g", s.name, s.x[0], s.x[len(s.x)-1]),
			Metric:  "growth of the mean job completion time of " + all[k].packing.name}
		rows = append(rows, r.Measure(experiment.Improvement(pick(got[last+k], meanOf), pick(got[k], meanOf)), b.First).
			JudgeRise(s.falls[k]))
	}
	return rows
}

func (s *axis) picture(all []farm, got [][]*spans) experiment.Picture {
	lines := make([]experiment.Line, 4)
	for i, x := range s.x {
		for k := range lines {
			lines[k].Name, lines[k].X = all[4*i+k].packing.name, append(lines[k].X, x)
			lines[k].Y = append(lines[k].Y, mean(pick(got[4*i+k], meanOf)))
		}
	}
	return experiment.Picture{Name: "pushbox-" + s.name, Title: s.figure, X: s.name, Y: "mean job completion time, s",
		Lines: lines}
}

// guess is one way to fill what the document leaves open.
type guess struct {
	name   string
	change func(m *workload.MapReduce)
	early  int // how many of Hadoop, NEAT and PushBox give reduces slots once 5 % of the maps have ended
}

func guesses() []guess {
	speed := func(x float64) func(m *workload.MapReduce) {
		return func(m *workload.MapReduce) {
			m.MapRate, m.ReduceRate, m.FarRate = m.MapRate*x, m.ReduceRate*x, m.FarRate*x
		}
	}
	input := func(x float64) func(m *workload.MapReduce) { return func(m *workload.MapReduce) { m.InputRatio *= x } }
	return []guess{{"as facebook-v1", speed(1), 0}, {"tasks compute half as fast", speed(.5), 0},
		{"tasks compute twice as fast", speed(2), 0}, {"tasks compute ten times as fast", speed(10), 0},
		{"half of the input", input(.5), 0}, {"twice the input", input(2), 0},
		{"slow start at 5 %", speed(1), 3}, {"slow start at 5 %, not of PushBox", speed(1), 2}}
}

// runPushBoxAssumptions shows what the gain under Fair depends on that the document does not print.
func runPushBoxAssumptions(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	var all []farm
	for _, g := range guesses() {
		model := workload.FacebookV1()
		g.change(&model)
		r := rivals(share.FairIntent)
		for i, p := range []packing{r[0], r[2], r[3], r[0]} {
			if i%3 < g.early { // the last is Hadoop, too
				p.name, p.change = p.name+", early", func(k *place.Packer) { k.SlowStart = place.SlowStart }
			}
			nic := "10Gbps"
			if i == 3 {
				nic = "100Tbps"
			}
			all = append(all, farm{g.name, machines(20, 20, nic), model, false, p})
		}
	}
	got, err := farms(ctx, b, all)
	if err != nil {
		return nil, err
	}
	model := workload.FacebookV1()
	out := &experiment.Result{Assumptions: append(model.Lines(), "Fair, 20 machines of 20 slots and 10 Gb/s")}
	for i, g := range guesses() {
		at := got[4*i : 4*i+4]
		for _, m := range []struct {
			metric       string
			ours, theirs []*spans
			of           func(*spans) float64
		}{{"mean job completion time shorter than Hadoop's by", at[2], at[0], meanOf},
			{"95th percentile shorter than Hadoop's by", at[2], at[0], p95Of},
			{"mean job completion time shorter than NEAT's by", at[2], at[1], meanOf},
			{"Hadoop's mean shorter without bound on the network by: what any network scheduler could gain", at[3], at[0],
				meanOf}} {
			out.Rows = append(out.Rows, experiment.Row{Figure: "none", Setting: g.name, Metric: m.metric, Unit: "%"}.
				Measure(shorter(pick(m.ours, m.of), pick(m.theirs, m.of)), b.First).Judge(0, "ours"))
		}
	}
	return out, nil
}
