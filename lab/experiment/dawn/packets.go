package dawn

import (
	"context"
	"fmt"

	"lightloom/lab/experiment"
)

// Packets of Dawn's cluster fit two cores when rates and sizes are divided by packetsScale, and times and
// sizes by packetsFaster: 25 Mb/s a rack, and the four hours take two minutes.
const packetsScale, packetsFaster = 20, 120

// runDawnPackets is Figures 3 and 4 on packets, and beside them at flow level: inputs as blocks, against
// Fair and ShuffleWatcher.
func runDawnPackets(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	var offices []office
	for _, kind := range []string{"ml", "tpch"} {
		for _, on := range []string{experiment.OnFlowsim, experiment.OnNetns} {
			o := office{kind, true, 0, dawnFabric, divided{on, packetsScale, packetsFaster}}
			if kind == "ml" {
				o.every = quarter
			}
			offices = append(offices, o)
		}
	}
	who := []assigner{assigners()[0], assigners()[1], assigners()[4]}
	got, err := experiment.Cross(ctx, b, offices, who, office.run)
	if err != nil {
		return nil, err
	}
	out := b.Result(append(assumedDawn(), fmt.Sprintf(
		"rates and sizes divided by %d, times and sizes by %d, also at flow level", packetsScale, packetsFaster))...)
	for i, o := range offices {
		dawnRows(o, who, got[i], out)
	}
	for i := 0; i < len(offices); i += 2 {
		for _, s := range who {
			h := out.At("none", offices[i+1].String()+", "+s.name, "by seed")
			h.Row("mean JCT above that at flow level", "%", 0,
				got[i+1][s.name].Against(got[i][s.name], meanJCT, experiment.Above))
		}
	}
	out.Notes = []string{experiment.HolmNote(out.Rows)}
	return out, nil
}
