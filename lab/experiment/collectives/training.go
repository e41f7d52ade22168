package collectives

import (
	"context"
	"fmt"
	"math"
	"time"

	"lightloom/controller/phases"
	"lightloom/lab/experiment"
)

// deltas are the reconfiguration delays of the sweep.
func deltas() []time.Duration {
	return []time.Duration{10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond,
		25 * time.Millisecond, 100 * time.Millisecond, time.Second}
}

// training is a job on a rail.
type training struct {
	model model
	split split
}

func (t training) String() string { return fmt.Sprintf("%v, %v", t.model, t.split) }

func trainings() []training {
	var out []training
	for _, m := range models() {
		for _, circuits := range []int{3, 4} {
			out = append(out, training{m, split{circuits}})
		}
	}
	return out
}

// The figures of a job: of an iteration, and of its break-even.
const (
	onRails  = "iteration on electrical rails"
	onceOver = "set once, above electrical rails"
	breaks   = "longest δ with which circuits move"
	moving   = "circuits by phase"
)

// figure names a figure at a delay.
func figure(delta time.Duration, name string) string { return fmt.Sprintf("δ = %v: %s", delta, name) }

const (
	overRails = "above electrical rails"
	underOnce = "sooner than set once"
	moves     = "moves an iteration"
)

func (t training) run(_ context.Context, _ *experiment.Bench, _ string, _ uint64) (experiment.Figures, error) {
	iteration := t.model.iteration(t.split.circuits)
	all, err := phases.Candidates(t.split.fabric(0), iteration)
	if err != nil {
		return nil, err
	}
	f := experiment.Figures{}
	for _, delta := range deltas() {
		p, err := phases.Decide(t.split.fabric(delta), iteration, all)
		if err != nil {
			return nil, err
		}
		f[onRails] = p.Bound.Seconds()
		f[onceOver] = 100 * (float64(p.Once)/float64(p.Bound) - 1)
		f[figure(delta, overRails)] = 100 * (float64(p.Time)/float64(p.Bound) - 1)
		f[figure(delta, underOnce)] = 100 * (1 - float64(p.Time)/float64(p.Once))
		f[figure(delta, moves)] = float64(p.Moves)
	}
	longest, err := phases.BreakEven(t.split.fabric(0), iteration, all, time.Hour)
	if err != nil {
		return nil, err
	}
	f[breaks] = math.Max(0, longest.Seconds()*1e3)
	return f, nil
}

func (t training) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("circuits by phase", t.String(), "")
	h.Row(onRails, "s", 0, at[moving].Of(onRails))
	h.Row(onceOver, "%", 0, at[moving].Of(onceOver))
	for _, delta := range deltas() {
		h.Row(figure(delta, overRails), "%", 0, at[moving].Of(figure(delta, overRails)))
		h.Row(figure(delta, underOnce), "%", 0, at[moving].Of(figure(delta, underOnce)))
		h.Row(figure(delta, moves), "", 0, at[moving].Of(figure(delta, moves)))
	}
	h.Row(breaks, "ms", 0, at[moving].Of(breaks))
}

func runTraining(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := b.Result(
		"8 × 8 × 4 data, tensor and pipeline ranks, 8 experts over the data ranks; 1,024 sequences of 4,096 tokens; bf16",
		"400 Tflop/s a GPU at 45 %; a NIC of 400 Gb/s a GPU, on the rail of its number; servers hold the tensor ranks",
		"a step computes 6 × active parameters × 4,096 ÷ 32 ÷ 180 Tflop/s; 131 of them, the pipeline's bubble included",
		"electrical rails have 400 Gb/s between any two GPUs of a rail, and no switch in between: the lower bound",
		"a move begins with its phase, which lasts δ at least; nothing is random",
	)
	all := trainings()
	if b.Quick {
		all = all[len(all)-1:]
	}
	return experiment.Fill(ctx, b, out, all, []string{moving}, training.run, training.rows)
}
