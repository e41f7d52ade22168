package packets

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/tries"
	"lightloom/southbound/noise"
)

// TestGeneralOnPackets: a Jellyfish, whose rules name sources, in both dataplanes, and a fat-tree of a
// few racks carry coflows, every byte once.
func TestGeneralOnPackets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, ability, spec string
		rootless            bool
	}{
		{"Jellyfish", "netns", "jellyfish:switches=6,degree=3,hosts=8,rate=50Mbps,slots=8", false},
		{"Jellyfish, rootless", "userns", "jellyfish:switches=6,degree=3,hosts=8,rate=50Mbps,slots=8", true},
		{"fat-tree", "netns", "fattree:k=4,hosts=9,rate=50Mbps,slots=8", false}, // TestUpGeneral has one, too
	}[:tries.Of(2, 3)] {
		t.Run(tt.name, func(t *testing.T) {
			labtest.ShareNetns(t, tt.ability, tt.rootless)
			s := labtest.General(t, tt.spec, "random+ecmp+maxmin", 6, time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, _, err := replay.OnPackets(ctx, s, s.Rows[0],
				emulated.Options{Rootless: tt.rootless, Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckPackets(t, s, o)
		})
	}
}

// TestGeneralAgreement holds packets against the fluid model on the document's networks of 30 hosts, as
// TestAgreement does on a leaf-spine: LIGHTLOOM_MEASURE=agreement runs it.
func TestGeneralAgreement(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	for name, text := range map[string]string{"fat-tree": labtest.FatTree30,
		"Jellyfish": labtest.Jellyfish30} {
		t.Run(name, func(t *testing.T) {
			labtest.NeedNetns(t, "netns", false)
			s := labtest.General(t, text, "random+ecmp+maxmin", 24, 6*time.Second)
			sim, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			noise.Measure(t, 3, func() error {
				ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
				defer cancel()
				s.Options.Demo = false // a run that others disturb is made again
				real, cost, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Stderr: io.Discard})
				if err != nil {
					t.Fatal(err)
				}
				labtest.CheckPackets(t, s, real)
				off := apart(sim.State, real.State, 0)
				median, p90 := report.Percentile(off, 0.5), report.Percentile(off, 0.9)
				t.Logf("%d coflows, load %.2f, |netns ÷ flowsim − 1|: median %.4f, p90 %.4f, worst %.4f; stolen %.2f core; first "+
					"difference of plans: %q",
					len(off), sim.Busiest, median, p90, off[len(off)-1], cost.StolenCores,
					labtest.FirstDifference(sim.State, real.State))
				if median > 0.05 || p90 > 0.15 {
					return fmt.Errorf("median %.4f (at most 0.05), p90 %.4f (at most 0.15)", median, p90)
				}
				return nil
			})
		})
	}
}
