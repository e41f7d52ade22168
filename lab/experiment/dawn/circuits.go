package dawn

import (
	"context"

	"lightloom/lab/experiment"
)

// circuitsFabric is dawnFabric with a circuit for each rack that carries what its nodes can send.
const circuitsFabric = "hybrid:racks=6,hosts=6,slots=8,spines=1,nic=1Gbps,eps=500Mbps,ocs=6Gbps,dark=10ms"

// runDawnCircuits sets Fair and Dawn beside themselves with circuits by Sunflow, and Dawn beside Fair
// with them. The document knows no optical switch.
func runDawnCircuits(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	var offices []office
	for _, blocks := range []bool{true, false} {
		offices = append(offices, office{"ml", blocks, quarter, circuitsFabric, divided{}},
			office{"tpch", blocks, 0, circuitsFabric, divided{}})
	}
	const lit = "+sunflow"
	who := []assigner{assigners()[0], {fairName + lit, "fair+shortest+tcp" + lit, nil}, assigners()[4],
		{dawnName + lit, "dawn+shortest+tcp" + lit, nil}}
	rows := func(o office, out *experiment.Result, at experiment.Systems) {
		for _, pair := range [][2]assigner{{who[1], who[0]}, {who[3], who[2]}, {who[2], who[0]},
			{who[3], who[1]}} {
			ours, theirs := pair[0].name, pair[1].name
			h := out.At("none", o.String()+", "+ours, "the document has no optical switch")
			h.Row("mean JCT shorter than that of "+theirs+" by", "%", 0,
				at.Against(ours, theirs, meanJCT, experiment.Below))
		}
		boundRow(o, at, out)
	}
	out := b.Result(append(assumedDawn(), "fabric "+circuitsFabric)...)
	return experiment.Fill(ctx, b, out, offices, who, office.run, rows)
}
