package dissertation

import (
	"context"
	"fmt"
	"slices"

	"lightloom/controller/certified"

	"lightloom/lab/experiment"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
)

// routing is a setting of chapters 4 and 5: so many flows in a fat-tree of switches of k ports.
type routing struct {
	k, flows int
	onHosts  bool
}

func (s routing) String() string {
	out := fmt.Sprintf("%d flows, k = %d", s.flows, s.k)
	if s.onHosts {
		out += hosts
	}
	return out
}

// noisy is the setting with noise on host links too.
func (s routing) noisy() routing {
	s.onHosts = true
	return s
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

// hosts marks settings with noise on host links too.
const hosts = ", noise on host links too"

// offline runs the settings of a chapter.
func offline(ctx context.Context, b *experiment.Bench, settings []routing, all []router,
	verify func(*certified.Plan, *certified.Instance) error) (map[routing]experiment.Runs, error) {
	return bySetting(ctx, b, settings, func(s routing, seed uint64) (experiment.Figures, error) {
		return s.run(seed, all, verify)
	})
}

// small stands for settings of pictures alone where the command is tried.
func small() routing { return routing{k: 6, flows: 10} }

func offlineCoRBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	few, many, largest := routing{k: 14, flows: 10}, routing{k: 14, flows: 100}, routing{k: 20, flows: 50}
	k4, k8 := routing{k: 4, flows: 50}, routing{k: 8, flows: 50}
	overFlows := []routing{few, {k: 14, flows: 40}, {k: 14, flows: 70}, many}
	overK := []routing{k4, k8, {k: 12, flows: 50}, {k: 16, flows: 50}, largest}
	if b.Quick {
		largest.k = 14
		overFlows[1], overFlows[2], overK[3], overK[4] = small(), small(), small(), largest
	}
	all := coflowRouters()
	names := routerNames(all)
	runs, err := offline(ctx, b, slices.Concat(overFlows, overK,
		[]routing{many.noisy(), largest.noisy()}), all,
		(*certified.Plan).VerifyLast)
	if err != nil {
		return nil, err
	}

	out := b.Result(offlineAssumptions()...)
	in := func(number, setting string, s routing) figure {
		return figure{out.At("Figure "+number, setting, ""), runs[s]}
	}
	const thousands, size = "100 flows, 1,617 nodes", "50 flows, the largest network"
	apart := map[string]float64{"MinCCT-S": 4, "MinCCT-M": 4, "MinCCT-SM": 1.4}
	grown := map[string]float64{"MinCCT-S": 3, "MinCCT-M": 3, "MinCCT-SM": 1.3}
	in("4.3", thousands, many).coflows(apart)
	in("4.3", thousands+hosts, many.noisy()).coflows(apart)
	in("4.4", size, largest).coflows(grown)
	in("4.4", size+hosts, largest.noisy()).coflows(grown)

	ten, f, d := in("4.3", "10 to 100 flows", many), in("4.3", thousands, many), in("4.3d", thousands, many)
	ten.times("growth of the CCT of 100 above that of 10", 1.9,
		runs[many].Against(runs[few], "CoRBA", experiment.Above))
	f.above("bandwidth", "Gb/s CoRBA", "Gb/s CoRBA-fast", 0.75)
	f.above("bandwidth", "Gb/s CoRBA", "Gb/s MinCCT-SM", 2.1)
	f.above("hops", "hops CoRBA", "hops MinCCT-SM", 0)
	for _, name := range names {
		d.own("running time of "+name, "ms", "ms "+name)
	}
	d.above("running time", "ms CoRBA", "ms CoRBA-fast", 220)
	d.above("running time", "ms MinCCT-S", "ms CoRBA-fast", 14)
	d.above("running time", "ms MinCCT-M", "ms CoRBA-fast", 44)
	d.above("running time", "ms MinCCT-SM", "ms CoRBA-fast", 16)
	for _, name := range minCCTs() {
		ten.grows("the CCT of "+name+" over CoRBA's", false, compare(runs[few], name, "CoRBA", experiment.Ratio),
			compare(runs[many], name, "CoRBA", experiment.Ratio))
	}
	in("4.4", "k = 4 to 8, and 8 to the largest", k4).grows("the CCT's fall, later over sooner", true,
		runs[k4].Against(runs[k8], "CoRBA", experiment.Ratio), runs[k8].Against(runs[largest], "CoRBA",
			experiment.Ratio))
	decided("", runs[many], out)
	decided(hosts, runs[many.noisy()], out)
	out.Pictures = []plot.Chart{
		picture("corba-4-3", "Figure 4.3: CCT, 1,617 nodes", "flows", []float64{10, 40, 70, 100}, names,
			overFlows, runs),
		picture("corba-4-4", "Figure 4.4: CCT, 50 flows", "k", ports(overK), names, overK, runs),
	}
	return out, nil
}

// ports are the k of settings.
func ports(settings []routing) (k []float64) {
	for _, s := range settings {
		k = append(k, float64(s.k))
	}
	return k
}

func minCCTs() []string { return []string{"MinCCT-S", "MinCCT-M", "MinCCT-SM"} }

// coflows are the rows of one coflow in one setting, with how many times as long the baselines take in
// the document.
func (f figure) coflows(paper map[string]float64) {
	for _, name := range minCCTs() {
		f.above("CCT", name, "CoRBA", paper[name])
		f.first("CCT", name, "CoRBA")
		f.above("CCT", name, "ours", 0)
	}
	f.alike("CCT", "CoRBA-fast", "CoRBA")
	f.above("CCT", "CoRBA", "ours", 0)
	for _, name := range []string{"CoRBA", "ours", "ours, fast"} {
		f.Why = fmt.Sprintf("median %.2f %%", median(f.runs.Of("gap "+name)))
		f.own("proven gap of "+name, "%", "gap "+name)
	}
}

func median(v []float64) float64 { return report.Percentile(slices.Sorted(slices.Values(v)), 0.5) }

// decided adds section 4.8: deciding and then sending 200 GB, by MinCCT-SM over CoRBA-fast.
func decided(noise string, runs experiment.Runs, out *experiment.Result) {
	whole := func(name string) []float64 {
		return runs.Each(func(f experiment.Figures) float64 { return f["ms "+name]/1e3 + 1600/f["Gb/s "+name] })
	}
	h := out.At("Section 4.8", "100 flows, 1,617 nodes, 200 GB"+noise,
		"here deciding takes milliseconds, so bandwidth alone decides")
	h.Row("decision and transfer of MinCCT-SM above CoRBA-fast", "%", 385,
		experiment.Compare(whole("MinCCT-SM"), whole("CoRBA-fast"), experiment.Above))
}

// coflowClaims are what the document says of a setting of Figures 4.5 and 4.6: how many times faster
// CoRBA-fast is than CoRBA, and than the others.
type coflowClaims struct {
	figure string
	coflowing
	fast, other float64
}

func (c coflowClaims) String() string { return c.Setting() }

func onlineCoRBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	points := []coflowClaims{
		{"Figure 4.5", coflowing{Flows: 10, Noise: 40}, 0, 0},
		{"Figure 4.5", coflowing{Flows: 50, Noise: 40}, 40, 6},
		{"Figure 4.6", coflowing{Flows: 30, Noise: 20}, 0, 0},
		{"Figure 4.6", coflowing{Flows: 30, Noise: 40}, 30, 6},
		{"Figure 4.6", coflowing{Flows: 30, Noise: 40, OnHosts: true}, 0, 0},
	}
	until := 1800.0
	if b.Quick {
		until = 120
	}
	got, err := experiment.Cross(ctx, b, points, coflowRouters()[:5],
		func(c coflowClaims, _ context.Context, _ *experiment.Bench, by router, seed uint64) (experiment.Figures,
			error) {
			c.By = by
			return c.Run(seed, until)
		})
	if err != nil {
		return nil, err
	}
	out := b.Result(
		"k = 10, 40 noise flows a second cut to what is free when they begin, all coflows scheduled anew at arrivals and " +
			"ends, and once a second while one finds no bandwidth; what is left makes coflows faster in their order",
	)
	for i, p := range points {
		f := figure{out.At(p.figure, "online, "+p.Setting(), ""), joined(got[i])}
		c := f
		c.Figure += "c"
		for _, x := range []struct {
			name      string
			paper     float64
			slow      string
			slowPaper float64
		}{{"CoRBA-fast", 1.1, "CoRBA", p.fast}, {"MinCCT-SM", 1.4, "MinCCT-SM", p.other}, {"MinCCT-S",
			1.7, "MinCCT-S",
			p.other}, {"MinCCT-M", 4.75, "MinCCT-M", p.other}} {
			f.above("mean CCT", "CCT "+x.name, "CCT CoRBA", x.paper)
			f.first("mean CCT", "CCT "+x.name, "CCT CoRBA")
			c.above("running time", "ms "+x.slow, "ms CoRBA-fast", x.slowPaper)
		}
		f.own("proven gap of CoRBA's decisions", "%", "gap CoRBA")
	}
	return out, nil
}
