package pushbox

import (
	"context"
	"fmt"

	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
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
		}, [3][2]float64{{31.7, 65.5}, {23.7, 48.8}, {21.8, 56.6}}, [3][2]float64{{30.1, 50.9}, {30.3,
			47.0}, {29.4, 51.9}},
			[4]bool{}},
		{"Figure 11", "machines", []float64{10, 20, 50, 110}, func(x float64, _ *workload.MapReduce) string {
			return machines(int(x), 20, "10Gbps")
		}, [3][2]float64{{22.7, 67.0}, {17.3, 43.0}, {13.2, 57.9}}, [3][2]float64{{24.9, 66.2}, {19.1,
			57.9}, {23.77, 63.0}},
			[4]bool{true, true, true, true}},
		{"Figure 12", "slots", []float64{8, 12, 16, 20}, func(x float64, _ *workload.MapReduce) string {
			return machines(20, int(x), "10Gbps")
		}, [3][2]float64{{31.3, 57.5}, {22.9, 40.0}, {21.7, 53.1}}, [3][2]float64{{4.5, 40.2}, {6.9,
			33.0}, {4.9, 39.2}},
			[4]bool{false, true, false, true}},
		{"Figure 13", "load", []float64{0.5, 1, 1.5, 2}, func(x float64, m *workload.MapReduce) string {
			m.Times = x
			return machines(20, 20, "10Gbps")
		}, [3][2]float64{{51.3, 64.9}, {35.9, 41.5}, {46.4, 58.7}}, [3][2]float64{{33.8, 67.0}, {27.5,
			56.3}, {33.2, 66.8}},
			[4]bool{}},
	}
}

// setting names a point of the axis.
func (s *axis) setting(x float64) string { return fmt.Sprintf("%s %g", s.name, x) }

// runPushBoxSweeps is Figures 10 to 13.
func runPushBoxSweeps(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	var all []farm
	for _, s := range axes() {
		for _, x := range s.x {
			model := workload.FacebookV1()
			fabric := s.at(x, &model)
			for _, p := range rivals(share.FairIntent) {
				all = append(all, farm{s.setting(x), fabric, model, false, p})
			}
		}
	}
	const optical = "oversubscription 4 and an optical switch"
	light := rivals(share.FairIntent)[3]
	light.name, light.sunflow = "PushBox+sunflow", true
	hybrid := "hybrid:racks=4,hosts=16,slots=20,spines=1,nic=10Gbps,eps=40Gbps,ocs=100Gbps,dark=10ms"
	got, err := farms(ctx, b, append(all, farm{optical, hybrid, workload.FacebookV1(), false, light}))
	if err != nil {
		return nil, err
	}
	model := workload.FacebookV1()
	out := b.Result(append(model.Lines(),
		"Fair; the document gives the range over each axis only: each point is held against its middle")...)
	for _, s := range axes() {
		s.rows(got, out)
		out.Pictures = append(out.Pictures, s.picture(got))
	}
	ownMean(out.At("none", optical, ""), light.name,
		got[optical][light.name])
	out.Notes = []string{experiment.HolmNote(out.Rows)}
	return out, nil
}

// rows are sizes and orders at each point, and the trend of each scheduler from the first to the last.
func (s *axis) rows(got map[string]experiment.Systems, out *experiment.Result) {
	who := rivals(share.FairIntent)
	for _, x := range s.x {
		h := out.At(s.figure, s.setting(x), "")
		at := got[h.Setting]
		for k, p := range who[:3] {
			inRange(h, meanJCT, p.name, s.mean[k], at)
			inRange(h, p99JCT, p.name, s.tail[k], at)
			ahead(h, p.name, at["PushBox"], at[p.name])
		}
		for _, p := range who {
			ownMean(h, p.name, at[p.name])
		}
	}
	first, last := s.x[0], s.x[len(s.x)-1]
	h := out.At(s.figure, fmt.Sprintf("%s %g to %g", s.name, first, last), "")
	for k, p := range who {
		h.Trend("growth of the mean job completion time of "+p.name, s.falls[k],
			got[s.setting(last)][p.name].Against(got[s.setting(first)][p.name], meanJCT, experiment.Above))
	}
}

// inRange adds by how many per cent PushBox's figure is shorter. Of that the document gives the range over the
// axis, whose middle every point is held against.
func inRange(h experiment.Head, metric, theirs string, in [2]float64, at experiment.Systems) {
	low, high := in[0], in[1]
	h.Because(fmt.Sprintf("the document: %g to %g over the axis; %s", low, high, whyPushBox)).
		Row(metric+" shorter than "+theirs+"'s by", "%", (low+high)/2,
			at.Against("PushBox", theirs, metric, experiment.Below))
}

func (s *axis) picture(got map[string]experiment.Systems) plot.Chart {
	out := plot.Chart{Name: "pushbox-" + s.name, Title: s.figure, X: s.name,
		Y: "mean job completion time, s"}
	for _, p := range rivals(share.FairIntent) {
		l := plot.Line{Name: p.name, X: s.x}
		for _, x := range s.x {
			l.Y = append(l.Y, report.Mean(got[s.setting(x)][p.name].Of(meanJCT)))
		}
		out.Lines = append(out.Lines, l)
	}
	return out
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
	const unbound = ", a network without bound"
	var all []farm
	for _, g := range guesses() {
		model := workload.FacebookV1()
		g.change(&model)
		r := rivals(share.FairIntent)
		for i, p := range []packing{r[0], r[2], r[3]} {
			if i < g.early {
				p.early = true
			}
			all = append(all, farm{g.name, machines(20, 20, "10Gbps"), model, false, p})
			if i == 0 {
				all = append(all, farm{g.name + unbound, machines(20, 20, "100Tbps"), model, false, p})
			}
		}
	}
	got, err := farms(ctx, b, all)
	if err != nil {
		return nil, err
	}
	model := workload.FacebookV1()
	out := b.Result(append(model.Lines(), "Fair, 20 machines of 20 slots and 10 Gb/s")...)
	for _, g := range guesses() {
		h := out.At("none", g.name, "ours")
		at := got[g.name]
		shorter := func(metric, figure string, ours, theirs experiment.Runs) {
			h.Row(metric, "%", 0, ours.Against(theirs, figure, experiment.Below))
		}
		shorter("mean job completion time shorter than Hadoop's by", meanJCT, at["PushBox"], at["Hadoop"])
		shorter("95th percentile shorter than Hadoop's by", p95JCT, at["PushBox"], at["Hadoop"])
		shorter("mean job completion time shorter than NEAT's by", meanJCT, at["PushBox"], at["NEAT"])
		shorter("Hadoop's mean shorter without bound on the network by: what any network scheduler could gain", meanJCT,
			got[g.name+unbound]["Hadoop"], at["Hadoop"])
	}
	return out, nil
}
