package collectives

import (
	"math"
	"strings"
	"testing"

	"lightloom/lab/experiment"
)

// TestExperiments runs both as the command would, with a part of the work.
func TestExperiments(t *testing.T) {
	for _, e := range Experiments() {
		out, err := e.Run(t.Context(), &experiment.Bench{Seeds: 1, First: 1, On: experiment.OnFlowsim, Quick: true})
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if len(out.Rows) < 20 {
			t.Errorf("%s: %d rows", e.Name, len(out.Rows))
		}
		for _, r := range out.Rows {
			if r.Measured == nil || math.IsNaN(*r.Measured) {
				t.Errorf("%s: %s, %s: nothing was measured", e.Name, r.Setting, r.Metric)
			}
			if r.Unit == "%" && *r.Measured < -1e-9 && !strings.HasPrefix(r.Metric, "joint sooner") {
				t.Errorf("%s: %s, %s: %g %%", e.Name, r.Setting, r.Metric, *r.Measured)
			}
		}
	}
}

// TestFormulas: the sizes of the jobs, worked out by hand.
func TestFormulas(t *testing.T) {
	sum := func(d [][]float64, from int) (out float64) {
		for _, bytes := range d[from] {
			out += bytes
		}
		return out
	}
	dense, moe := models()[0], models()[2]
	// 4,096 tokens × 4,096 × 2 bytes ÷ 8 ranks, to both neighbours from a stage in the middle.
	if got, want := sum(dense.pipeline()[0].Demand, rack(0, 1)), 2*4096.0*4096*2/8; got != want {
		t.Errorf("pipeline: %g bytes, want %g", got, want)
	}
	// 7 billion parameters × 2 bytes ÷ 32 ranks, 7/8 of them twice: in both forms.
	for _, f := range dense.gradients() {
		if got, want := sum(f.Demand, 5), 7e9*2/32*2*7/8; math.Abs(got-want) > 1 {
			t.Errorf("gradients, %s: %g bytes, want %g", f.Name, got, want)
		}
	}
	// 512 tokens × 2 experts × 4,096 × 2 bytes, 7/8 of them to others; over strides 1, 2 and 4 every rank has 12 hops to
	// the 7 others.
	forms := moe.experts(3)
	for i, want := range []float64{7, 12} {
		if got, want := sum(forms[i].Demand, 9), 512*2*4096*2/8*want; math.Abs(got-want) > 1 {
			t.Errorf("experts, %s: %g bytes, want %g", forms[i].Name, got, want)
		}
	}
	// 131 steps of 6 × 7e9 × 4,096 ÷ 32 ÷ 180e12 s, and 32 all-to-alls each in the mixture.
	if got := len(dense.iteration(4)); got != 132 {
		t.Errorf("dense: %d phases", got)
	}
	if got := len(moe.iteration(4)); got != 131*33+1 {
		t.Errorf("mixture: %d phases", got)
	}
	if got := dense.iteration(4)[0].Compute.Seconds(); math.Abs(got-0.02987) > 0.00001 {
		t.Errorf("a step computes for %g s", got)
	}
}
