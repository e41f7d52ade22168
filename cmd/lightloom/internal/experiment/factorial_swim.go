package experiment

import (
	"context"
	"fmt"

	"lightloom/controller/workload/swim"
)

// The experiment joint-swim sets joint beside the schedulers of the Co-scheduler document, on its cluster: maps go near
// their blocks as Fair has it, what joint decides is where reduces run, which pairs of racks get circuits, and paths.
// It is of no document: every row makes no claim.

func jointSwim() Experiment {
	return Experiment{Name: "joint-swim", Doc: "joint on Co-scheduler's cluster, beside its schedulers",
		Source: "SWIM jobs, section V-A",
		Seeds:  20, On: []string{OnFlowsim}, Run: runJointSwim}
}

func runJointSwim(ctx context.Context, b *Bench) (*Result, error) {
	who := append(schedulers(), scheduler{"crosslayer with Sunflow", "crosslayer+sunflow", nil},
		scheduler{"joint", "joint", nil})
	loads := []float64{1, 10}
	var settings []setting
	for _, load := range loads {
		c := sectionVA()
		c.Model.Load, c.Name = load, fmt.Sprintf("load ×%g", load)
		for _, s := range who {
			settings = append(settings, setting{c, s})
		}
	}
	got, err := measure(ctx, b, settings)
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: append(assumed(swim.V1(12_000)),
		"joint, crosslayer: reduces take slots once all maps have ended, all of a job's at once, where the annealer says; "+
			"maps as Fair's")}
	for i := range loads {
		out.Rows = append(out.Rows, swimRows(b, settings[i*len(who)].cluster.Name, who, got[i*len(who):(i+1)*len(who)])...)
	}
	out.Notes = []string{fmt.Sprintf("%d intervals of 95 %%: about %.0f miss by chance", len(out.Rows),
		float64(len(out.Rows))/20)}
	return out, nil
}

// swimRows compares the last scheduler, joint, with each of the others.
func swimRows(b *Bench, name string, who []scheduler, got [][]*figures) []Row {
	var rows []Row
	last := len(who) - 1
	for k, s := range who {
		for _, m := range metrics() {
			r := Row{Figure: "cell", Setting: name + ", " + s.name, Metric: m.name, Unit: "s"}
			rows = append(rows, r.Measure(column(got[k], m.of), b.First).Judge(0, ""))
			if k < last {
				r := Row{Figure: "joint", Setting: name + ", joint against " + s.name, Metric: m.name + " smaller by", Unit: "%"}
				rows = append(rows, r.Measure(reduction(got[last], got[k], m.of), b.First).Judge(0, ""))
			}
		}
		rows = append(rows, boundRows(name+", "+s.name, got[k], b.First)...)
		rows = append(rows, circuitShare(name+", "+s.name, got[k], b.First))
	}
	return rows
}
