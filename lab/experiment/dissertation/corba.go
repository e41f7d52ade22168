package dissertation

import (
	"context"
	"fmt"

	"lightloom/controller/certified"

	"lightloom/lab/experiment"
	"lightloom/lab/experiment/numbers"
)

type routing struct {
	k, flows int
	onHosts  bool
}

func (s routing) String() string {
	out := fmt.Sprintf("%d flows, k = %d", s.flows, s.k)
	if s.onHosts {
		out += ", noise on host links too"
	}
	return out
}

// offlineAssumptions are those of one coflow.
func offlineAssumptions() []string {
	return []string{
		"1617 nodes are k = 14 with twice the hosts a rack; links are undirected, as in the document's equation 4.4",
		"noise takes bandwidth of fabric links only; rows with noise on host links too are named so: those " +
			"decide alone there",
		"MinCCT-S has 5 of the shortest paths, drawn; -SM the 5 widest of these; -M the widest path, then the widest " +
			"without the narrowest fabric link of the ones before",
		"ours begins from the rounded relaxation and from a greedy routing, and has the threshold bound",
		"times are processor time",
	}
}

func offlineCoRBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := &experiment.Result{Assumptions: offlineAssumptions()}
	settings := []routing{{14, 10, false}, {14, 40, false}, {14, 70, false}, {14, 100, false}, {4, 50, false},
		{8, 50, false}, {12, 50, false}, {16, 50, false}, {20, 50, false}, {14, 100, true}, {20, 50, true}}
	if b.Quick { // those that have rows, and smaller ones for pictures
		small := routing{6, 10, false}
		settings[1], settings[2], settings[7], settings[8], settings[10] = small, small, small, routing{14, 50, false},
			routing{14, 50, true}
	}
	all := numbers.CoflowRouters()
	runs, err := experiment.Grid(ctx, b, settings, routing.String,
		func(_ context.Context, s routing, seed uint64) (numbers.Figures, error) {
			return numbers.Routed(seed, s.k, s.flows, s.onHosts, all, (*certified.Plan).VerifyLast)
		})
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		figure, setting string
		at              int
		paper           map[string]float64
	}{
		{"Figure 4.3", "100 flows, 1,617 nodes", 3, map[string]float64{"MinCCT-S": 4, "MinCCT-M": 4, "MinCCT-SM": 1.4}},
		{"Figure 4.3", "100 flows, 1,617 nodes, noise on host links too", 9, map[string]float64{"MinCCT-S": 4, "MinCCT-M": 4,
			"MinCCT-SM": 1.4}},
		{"Figure 4.4", "50 flows, the largest network", 8, map[string]float64{"MinCCT-S": 3, "MinCCT-M": 3,
			"MinCCT-SM": 1.3}},
		{"Figure 4.4", "50 flows, the largest network, noise on host links too", 10, map[string]float64{"MinCCT-S": 3,
			"MinCCT-M": 3, "MinCCT-SM": 1.3}},
	} {
		r := runs[c.at]
		for _, name := range []string{"MinCCT-S", "MinCCT-M", "MinCCT-SM"} {
			out.Rows = append(out.Rows, times(c.figure, c.setting, "CCT", name, "CoRBA", c.paper[name], r, b.First),
				first(c.figure, c.setting, "the CCT", name, "CoRBA", r, b.First),
				times(c.figure, c.setting, "CCT", name, "ours", 0, r, b.First))
		}
		out.Rows = append(out.Rows, alike(c.figure, c.setting, "CCT", "CoRBA-fast", "CoRBA", r, b.First),
			times(c.figure, c.setting, "CCT", "CoRBA", "ours", 0, r, b.First))
		for _, name := range []string{"CoRBA", "ours", "ours, fast"} {
			out.Rows = append(out.Rows, own(c.figure, c.setting, "proven gap of "+name, "%", of(r, "gap "+name), b.First,
				fmt.Sprintf("median %.2f %%", median(of(r, "gap "+name)))))
		}
	}
	r := runs[3]
	out.Rows = append(out.Rows,
		times("Figure 4.3", "10 to 100 flows", "growth of the CCT", "100", "10", 1.9, pairUp(runs[0], runs[3], "CoRBA"),
			b.First),
		times("Figure 4.3", "100 flows, 1,617 nodes", "bandwidth", "Gb/s CoRBA", "Gb/s CoRBA-fast", 0.75, r, b.First),
		times("Figure 4.3", "100 flows, 1,617 nodes", "bandwidth", "Gb/s CoRBA", "Gb/s MinCCT-SM", 2.1, r, b.First),
		times("Figure 4.3", "100 flows, 1,617 nodes", "hops", "hops CoRBA", "hops MinCCT-SM", 0, r, b.First))
	for _, name := range numbers.Names(all) {
		out.Rows = append(out.Rows, own("Figure 4.3d", "100 flows, 1,617 nodes", "running time of "+name, "ms",
			of(r, "ms "+name), b.First, ""))
	}
	for _, t := range []struct {
		slow, fast string
		paper      float64
	}{{"CoRBA", "CoRBA-fast", 220}, {"MinCCT-S", "CoRBA-fast", 14}, {"MinCCT-M", "CoRBA-fast", 44},
		{"MinCCT-SM", "CoRBA-fast", 16}} {
		out.Rows = append(out.Rows, times("Figure 4.3d", "100 flows, 1,617 nodes", "running time", "ms "+t.slow,
			"ms "+t.fast, t.paper, r, b.First))
	}
	for _, name := range []string{"MinCCT-S", "MinCCT-M", "MinCCT-SM"} {
		out.Rows = append(out.Rows, rises("Figure 4.3", "10 to 100 flows", "the CCT of "+name+" over CoRBA's",
			over(runs[0], name, "CoRBA"), over(runs[3], name, "CoRBA"), false, b.First))
	}
	steep := of(runs[4], "CoRBA") // by how much more the CCT falls from k = 4 to 8 than from 8 to the largest
	flat := make([]float64, len(steep))
	for i := range steep {
		steep[i], flat[i] = steep[i]/runs[5][i]["CoRBA"], runs[5][i]["CoRBA"]/runs[8][i]["CoRBA"]
	}
	out.Rows = append(out.Rows, rises("Figure 4.4", "k = 4 to 8, and 8 to the largest",
		"the CCT's fall, later over sooner", steep, flat, true, b.First), decided("", r, b.First),
		decided(", noise on host links too", runs[9], b.First))
	out.Pictures = append(out.Pictures,
		picture("corba-4-3", "Figure 4.3: CCT, 1,617 nodes", "flows", "s", []float64{10, 40, 70, 100}, numbers.Names(all),
			runs[:4]),
		picture("corba-4-4", "Figure 4.4: CCT, 50 flows", "k", "s", []float64{4, 8, 12, float64(settings[7].k),
			float64(settings[8].k)}, numbers.Names(all), runs[4:9]))
	return out, nil
}

// decided is section 4.8: deciding and then sending 200 GB, by MinCCT-SM over CoRBA-fast.
func decided(noise string, runs []numbers.Figures, seed uint64) experiment.Row {
	v := make([]float64, len(runs))
	whole := func(r numbers.Figures, name string) float64 { return r["ms "+name]/1e3 + 1600/r["Gb/s "+name] }
	for i, r := range runs {
		v[i] = 100 * (whole(r, "MinCCT-SM")/whole(r, "CoRBA-fast") - 1)
	}
	r := experiment.Row{Figure: "Section 4.8", Setting: "100 flows, 1,617 nodes, 200 GB" + noise, Unit: "%",
		Paper:  experiment.Number(385),
		Metric: "decision and transfer of MinCCT-SM above CoRBA-fast"}
	return r.Measure(v, seed).Judge(0, "here deciding takes milliseconds, so bandwidth alone decides")
}

// pairUp makes runs of the same figure under two settings, "10" and "100".
func pairUp(a, b []numbers.Figures, name string) []numbers.Figures {
	out := make([]numbers.Figures, len(a))
	for i := range a {
		out[i] = numbers.Figures{"10": a[i][name], "100": b[i][name]}
	}
	return out
}

func onlineCoRBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := &experiment.Result{Assumptions: []string{
		"k = 10, 40 noise flows a second cut to what is free when they begin, all coflows scheduled anew at arrivals and " +
			"ends, and once a second while one finds no bandwidth; what is left makes coflows faster in their order",
	}}
	var settings []numbers.Coflowing
	all := numbers.CoflowRouters()[:5]
	points := []struct {
		figure string
		numbers.Coflowing
		fast, other float64 // how many times faster CoRBA-fast is than CoRBA, and than the others
	}{{"Figure 4.5", numbers.Coflowing{Flows: 10, Noise: 40}, 0, 0},
		{"Figure 4.5", numbers.Coflowing{Flows: 50, Noise: 40}, 40, 6},
		{"Figure 4.6", numbers.Coflowing{Flows: 30, Noise: 20}, 0, 0},
		{"Figure 4.6", numbers.Coflowing{Flows: 30, Noise: 40}, 30, 6},
		{"Figure 4.6", numbers.Coflowing{Flows: 30, Noise: 40, OnHosts: true}, 0, 0}}
	for _, p := range points {
		for _, r := range all {
			p.By = r
			settings = append(settings, p.Coflowing)
		}
	}
	until := 1800.0
	if b.Quick {
		until = 120
	}
	grid, err := experiment.Grid(ctx, b, settings, numbers.Coflowing.String,
		func(_ context.Context, s numbers.Coflowing, seed uint64) (numbers.Figures, error) {
			return s.Run(seed, until)
		})
	if err != nil {
		return nil, err
	}
	for i, p := range points {
		runs := make([]numbers.Figures, len(grid[0]))
		for k := range runs {
			runs[k] = numbers.Figures{}
			for a, r := range all {
				f := grid[i*len(all)+a][k]
				runs[k][r.Name], runs[k]["ms "+r.Name], runs[k]["gap "+r.Name] = f["CCT"], f["ms"], f["gap"]
			}
		}
		setting := "online, " + p.Setting()
		for _, c := range []struct {
			name  string
			paper float64
		}{{"CoRBA-fast", 1.1}, {"MinCCT-SM", 1.4}, {"MinCCT-S", 1.7}, {"MinCCT-M", 4.75}} {
			out.Rows = append(out.Rows, times(p.figure, setting, "mean CCT", c.name, "CoRBA", c.paper, runs, b.First),
				first(p.figure, setting, "the mean CCT", c.name, "CoRBA", runs, b.First))
			paper := p.other
			if c.name == "CoRBA-fast" {
				c.name, paper = "CoRBA", p.fast
			}
			out.Rows = append(out.Rows, times(p.figure+"c", setting, "running time", "ms "+c.name, "ms CoRBA-fast", paper, runs,
				b.First))
		}
		out.Rows = append(out.Rows, own(p.figure, setting, "proven gap of CoRBA's decisions", "%", of(runs, "gap CoRBA"),
			b.First, ""))
	}
	return out, nil
}
