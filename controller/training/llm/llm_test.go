package llm

import (
	"math"
	"strings"
	"testing"

	"lightloom/controller/training"
	"lightloom/controller/training/fluid"
)

// parameters returns those of a whole model.
func parameters(m *Model) float64 {
	layer := m.attention() + m.feed()*float64(max(m.Experts, 1))
	return float64(m.Layers)*layer + 2*float64(m.Hidden)*float64(m.Words)
}

// TestParameters: the formulas give the published parameter counts.
func TestParameters(t *testing.T) {
	for name, want := range map[string]float64{"dense-7b": 6.74e9, "dense-70b": 68.98e9, "moe-8x7b": 46.7e9} {
		m, err := ModelOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := parameters(&m); math.Abs(got/want-1) > .002 {
			t.Errorf("%s has %.3g parameters, published are %.3g", name, got, want)
		}
	}
}

// small is a job of 8 ranks whose stages take alike: it has no words.
func small() Job {
	j := Default(Model{Name: "small", Layers: 4, Hidden: 1024, Forward: 4096, KV: 1})
	j.Data, j.Tensor, j.Pipeline, j.Batch, j.Micro, j.Blocks = 2, 1, 4, 32, 2, 1
	return j
}

func run(t *testing.T, j Job, net *fluid.Network) *training.Outcome {
	t.Helper()
	w, err := Generate(j)
	if err != nil {
		t.Fatal(err)
	}
	if net == nil {
		net = fluid.Star(j.Ranks(), 1e18, 0) // so fast that nothing is exposed
	}
	out, err := fluid.Run(t.Context(), w, fluid.Options{Network: net})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPipeline: over a network that costs nothing, m microbatches in P stages take (m + P − 1)(forward + backward)
// (Narayanan et al., SC 2021, section 2.2), each iteration again.
func TestPipeline(t *testing.T) {
	j := small()
	for _, iterations := range []int{1, 3} {
		j.Iterations = iterations
		want := float64(iterations) * float64(8+4-1) * 3 * float64(j.computing(0, 0, 1))
		if got := float64(run(t, j, nil).End()); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%d iterations take %.0f ns, want %.0f", iterations, got, want)
		}
	}
}

// TestOperations: a dense iteration computes 6 operations a parameter and token, and those of attention and output.
func TestOperations(t *testing.T) {
	j := Default(Models()[0])
	m, tokens := j.Model, float64(j.Batch*j.Tokens)
	sum := 0.0
	for p := range j.Pipeline {
		for k := range j.Blocks {
			sum += float64(3*j.computing(p, k, 1)) / 1e9 * j.Speed * float64(j.Tensor) * float64(j.micros()*j.Data)
		}
	}
	want := 6*tokens*(parameters(&m)-float64(m.Hidden*m.Words)) + 3*tokens*float64(m.Layers)*4*float64(j.Tokens*m.Hidden)
	if math.Abs(sum/want-1) > 1e-3 {
		t.Errorf("%.4g operations, want %.4g", sum, want)
	}
}

// TestGradients: without a pipeline, gradients of the last block but one are sent while the last is computed, so that
// those of the last are exposed: 2(n−1)/n of its bytes over the NIC.
func TestGradients(t *testing.T) {
	j := small()
	j.Pipeline, j.Data, j.Blocks, j.Batch = 1, 4, 4, 8
	const nic = 1e12 // bit/s
	out := run(t, j, fluid.Star(j.Ranks(), nic, 0))
	dense, _ := j.gradients(0, 0)
	compute := 4 * 3 * float64(j.computing(0, 0, 1))
	want := compute + 1.5*float64(dense)*8/nic*1e9
	if got := float64(out.End()); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("%.0f ns, want %.0f", got, want)
	}
}

// TestMixture: a skew makes the rank with the first expert compute longer, and the iteration with it.
func TestMixture(t *testing.T) {
	j := small()
	j.Model.Experts, j.Model.Used, j.Expert, j.Pipeline, j.Data = 8, 2, 4, 1, 4
	even := run(t, j, nil).End()
	j.Skew = 1
	skewed := run(t, j, nil).End()
	if skewed <= even {
		t.Errorf("%v with a skew, %v without", skewed, even)
	}
	sum := 0.0
	for _, x := range j.shares() {
		sum += x
	}
	if math.Abs(sum-1) > 1e-9 || j.shares()[0] < .5 {
		t.Errorf("shares are %v: experts 0 and 1 of 8 have (1 + 1/2) / 2.72", j.shares())
	}
}

func TestBadJob(t *testing.T) {
	for _, c := range []struct {
		name string
		mend func(*Job)
		want string
	}{
		{"layers", func(j *Job) { j.Blocks = 3 }, "32 layers cannot be split into 4 stages of 3 blocks"},
		{"batch", func(j *Job) { j.Micro = 3 }, "a batch of 1024 sequences cannot be split into microbatches of 3"},
		{"zero", func(j *Job) { j.Tensor = 0 }, "tensor is 0: write 1 to 16777216"},
		{"slow", func(j *Job) { j.Speed = 1e-300 }, "a block takes longer than 104 days"},
		{"ranks", func(j *Job) { j.Data = 1 << 20 }, "ranks, more than 16384"},
		{"experts", func(j *Job) { j.Expert = 5 }, "8 experts cannot be spread over 5 of 8"},
		{"nodes", func(j *Job) { j.Iterations = 1 << 20 }, "nodes, more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := Default(Models()[2])
			c.mend(&j)
			if _, err := Generate(j); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
	if size(1e300) <= training.MostBytes || size(0) != 1 {
		t.Errorf("%d bytes, and %d", size(1e300), size(0))
	}
	if _, err := ModelOf("gpt"); err == nil || !strings.Contains(err.Error(), "dense-7b") {
		t.Errorf("%v", err)
	}
}
