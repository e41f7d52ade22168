package dawn

import (
	"context"
	"time"

	"lightloom/lab/experiment"
)

// circuitsFabric is dawnFabric with a circuit for each rack that carries what its nodes can send.
const circuitsFabric = "hybrid:racks=6,hosts=6,slots=8,spines=1,nic=1Gbps,eps=500Mbps,ocs=6Gbps,dark=10ms"

// runDawnCircuits sets Fair and Dawn beside themselves with circuits by Sunflow, and Dawn beside Fair with them. The
// document knows no optical switch.
func runDawnCircuits(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	var offices []office
	for _, blocks := range []bool{true, false} {
		offices = append(offices, office{"ml", blocks, 15 * time.Minute, circuitsFabric},
			office{"tpch", blocks, 0, circuitsFabric})
	}
	const lit = "+sunflow"
	who := []assigner{assigners()[0], {fairName + lit, "fair+shortest+tcp" + lit, nil}, assigners()[4],
		{dawnName + lit, "dawn+shortest+tcp" + lit, nil}}
	got, err := dawnGrid(ctx, b, offices, func(office) []assigner { return who })
	if err != nil {
		return nil, err
	}
	out := &experiment.Result{Assumptions: append(assumedDawn(), "fabric "+circuitsFabric)}
	jct := dawnFigures()[1]
	for i, o := range offices {
		for _, pair := range [][2]int{{1, 0}, {3, 2}, {2, 0}, {3, 1}} {
			ours, theirs := pair[0], pair[1]
			out.Rows = append(out.Rows, experiment.Row{Figure: "none", Setting: o.String() + ", " + who[ours].name,
				Metric: jct.name + " that of " + who[theirs].name + " by", Unit: "%"}.
				Measure(shorter(assignedColumn(got[i][ours], jct.of), assignedColumn(got[i][theirs], jct.of)), b.First).
				Judge(0, "the document has no optical switch"))
		}
		free := assignedColumn(got[i][0], func(a *assigned) float64 { return a.Bound })
		out.Rows = append(out.Rows, experiment.Row{Figure: "infinite network", Setting: o.String(),
			Metric: "Fair's mean JCT smaller by, at most", Unit: "%"}.Measure(free, b.First).Judge(0, experiment.SameOrder))
	}
	return out, nil
}
