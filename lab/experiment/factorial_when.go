package experiment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lightloom/controller/workload"
	"lightloom/pathmap"
)

// The experiment joint-when asks where deciding together adds something to lighting every pair: one thing of the
// factorial experiment's setting is changed at a time. It is of no document: every row makes no claim.

func jointWhen() Experiment {
	return Experiment{Name: "joint-when", Doc: "what joint adds over reconfiguration delays, circuits, ports, load and " +
		"sizes",
		Source: "the synthetic workload",
		Seeds:  20, On: []string{OnFlowsim}, Run: runJointWhen}
}

// variation is the factorial setting with one change.
type variation struct {
	name string
	studySetting
}

// variations are all variations that were run. They were chosen before the first run, and none was left out afterwards.
func variations(jobs int) []variation {
	base := func() studySetting {
		return studySetting{fabric: factorialFabric, jobs: workload.SyntheticOptions{Jobs: jobs, Window: 4 * time.Second}}
	}
	var all []variation
	add := func(name string, change func(g *studySetting)) {
		g := base()
		change(&g)
		all = append(all, variation{name, g})
	}
	set := func(old, new string) func(g *studySetting) {
		return func(g *studySetting) { g.fabric = strings.Replace(g.fabric, old, new, 1) }
	}
	add("as the factorial, within 4 s", func(*studySetting) {})
	for _, dark := range []string{"1ms", "50ms", "200ms", "1s"} {
		add("dark for "+dark, set("dark=10ms", "dark="+dark))
	}
	for _, rate := range []string{"100Mbps", "200Mbps"} {
		add("circuits of "+rate, set("ocs=1Gbps", "ocs="+rate))
	}
	add("circuits of 200Mbps, dark for 200ms", set("ocs=1Gbps,dark=10ms", "ocs=200Mbps,dark=200ms"))
	add("ports on 4 of 8 racks", set("dark=10ms", "dark=10ms,ports=4"))
	add("ports on 4 of 8 racks, dark for 200ms", set("dark=10ms", "dark=200ms,ports=4"))
	for _, window := range []time.Duration{time.Second, 250 * time.Millisecond} {
		add(fmt.Sprintf("within %v", window), func(g *studySetting) { g.jobs.Window = window })
	}
	add("within 1s, dark for 200ms", func(g *studySetting) {
		set("dark=10ms", "dark=200ms")(g)
		g.jobs.Window = time.Second
	})
	add("long wide coflows three times as large", func(g *studySetting) { g.jobs.Long = 15e6 * pathmap.Bytes(jobs) })
	add("long wide coflows of a tenth", func(g *studySetting) {
		g.jobs.Elephant, g.jobs.Long = 1.125e6, 500e3*pathmap.Bytes(jobs)
	})
	return all
}

func runJointWhen(ctx context.Context, b *Bench) (*Result, error) {
	jobs := 40
	if b.Quick {
		jobs = 8
	}
	who := []cell{circuitsElephants, circuitsAll, jointly, jointPlaces, jointCircuits}
	out := &Result{Assumptions: []string{
		"the setting of the factorial experiment, " + factorialFabric +
			fmt.Sprintf(", %d jobs within 4 s, with what a row names", jobs),
		"the threshold of elephants is 9 times the dark time at the circuits' rate: where circuits are dark for long, " +
			"hardly anything is one",
	}}
	type point struct {
		variation
		cell
	}
	all := variations(jobs)
	var points []point
	for _, v := range all {
		for _, c := range who {
			points = append(points, point{v, c})
		}
	}
	got, err := Grid(ctx, b, points, func(p point) string {
		return p.name + ": " + p.cell.String()
	}, func(ctx context.Context, p point, seed uint64) (*figures, error) {
		return p.cell.on(ctx, p.studySetting, seed)
	})
	if err != nil {
		return nil, err
	}
	for i, v := range all {
		out.Rows = append(out.Rows, whenRows(b, v.name, who, got[i*len(who):(i+1)*len(who)])...)
	}
	out.Notes = []string{fmt.Sprintf("%d intervals of 95 %%: about %.0f miss by chance", len(out.Rows),
		float64(len(out.Rows))/20)}
	return out, nil
}

// whenRows are the steps from sunflow to joint in one variation, joint against lighting every pair, and what circuits
// carry.
func whenRows(b *Bench, name string, who []cell, got [][]*figures) []Row {
	var rows []Row
	for _, m := range metrics()[1:] {
		e := effects{m: m, cells: who, got: got, seed: b.First}
		rows = append(rows, e.steps()...)
		rows = append(rows, e.row("joint", "joint against "+circuitsAll.String(), func(run int) float64 {
			return e.of(jointly, run) - e.of(circuitsAll, run)
		}))
	}
	for k, c := range who {
		rows = append(rows, boundRows(c.String(), got[k], b.First)...)
		rows = append(rows, circuitShare(c.String(), got[k], b.First))
	}
	for i := range rows {
		rows[i].Setting = name + ": " + rows[i].Setting
	}
	return rows
}
