// Package anneal decides by simulated annealing where a job's tasks run and which paths flows take,
// together: the two-level scheduler of Alkaff and Gupta, Cross-Layer Scheduling in Cloud Computing
// Systems. One annealer serves both levels; at the upper one a move places a task elsewhere and calls
// the lower one, whose moves send a flow over another path.
//
// It is not a policy: it sees links, paths and flows, never a view or a plan. Running flows are moved
// by Migrate alone, at a price, but what a decision takes from them counts.
package anneal

import (
	"math"
	"math/rand/v2"
)

// Problem is a state that can be annealed, changed in place. Utilities are whole numbers, so that a sum
// kept up to date move by move equals the same sum computed afresh.
type Problem interface {
	// Reset makes the first state of a restart.
	Reset(restart int, rng *rand.Rand)
	// Move goes to a neighbour; false if there is none.
	Move(rng *rand.Rand) bool
	// Undo takes the last Move back. It is called at most once after a Move.
	Undo()
	// Utility values the present state; zero or above, more is better.
	Utility() int64
	// Save remembers the present state, Restore goes back to the one remembered last.
	Save()
	Restore()
	// Spent reports whether the allowed work is used up: the run then stops.
	Spent() bool
}

// Count is how many moves were evaluated and accepted.
type Count struct{ Evaluated, Accepted int64 }

// Add adds another count.
func (c *Count) Add(o Count) { c.Evaluated += o.Evaluated; c.Accepted += o.Accepted }

// Schedule is the cooling schedule of a run.
type Schedule struct {
	Restarts, Steps int
	First           int // the number of the first restart, for a caller that runs some of them
	// Start and End are the temperatures of the first and last step, as fractions of the range between the
	// least and the best utility seen; between them it falls by a constant factor. A fraction of the best
	// alone would depend on how much runs beside the job: the more, the smaller what a move changes.
	Start, End float64
	// Paper runs as the document's Algorithm 1 is printed: the first neighbour is always taken, for the
	// utility of the first state is left out; temperatures are in Mb/s, from PaperStart, each the last
	// one's power of 0.95.
	Paper bool
}

// PaperStart is the first temperature of the printed algorithm, in Mb/s; the document gives none. Its
// powers of 0.95 tend to 1 Mb/s, and reach 1.04 after 100 steps.
const PaperStart = 1000

// unit is what utilities are counted in, beside that of the document's temperature.
const unit = 1e6

// Run anneals p and leaves it in the best state seen.
func Run(p Problem, s Schedule, rng *rand.Rand) Count {
	w := run{p: p, s: s, rng: rng, best: -1, least: math.MaxInt64}
	for r := range max(s.Restarts, 1) {
		if r > 0 && p.Spent() {
			break
		}
		w.restart(s.First + r)
	}
	p.Restore()
	return w.count
}

type run struct {
	p         Problem
	s         Schedule
	rng       *rand.Rand
	cur, best int64
	least     int64 // seen so far
	count     Count
	printed   []float64 // temperatures, by step
}

func (w *run) restart(r int) {
	w.p.Reset(r, w.rng)
	if w.s.Paper {
		w.cur = 0
		if w.best < 0 { // a run without a neighbour still has its first state
			w.best = 0
			w.p.Save()
		}
	} else {
		w.cur = w.p.Utility()
		w.least = min(w.least, w.cur)
		w.keepBest(w.cur > w.best)
	}
	t, cool := w.s.Start, 1.0
	if w.s.Steps > 1 && w.s.Start > 0 {
		cool = math.Pow(w.s.End/w.s.Start, 1/float64(w.s.Steps-1))
	}
	if w.s.Paper {
		t = w.printedAt(0)
	}
	for k := range w.s.Steps {
		if w.p.Spent() || !w.p.Move(w.rng) {
			return
		}
		w.step(t)
		if w.s.Paper {
			t = w.printedAt(k + 1)
		} else {
			t *= cool
		}
	}
}

// printedAt returns a temperature of the printed algorithm, which is found once for all restarts.
func (w *run) printedAt(step int) float64 {
	if len(w.printed) == 0 {
		w.printed = append(w.printed, PaperStart)
	}
	for len(w.printed) <= step {
		w.printed = append(w.printed, math.Pow(w.printed[len(w.printed)-1], 0.95))
	}
	return w.printed[step]
}

// step takes the move just made, or takes it back.
func (w *run) step(t float64) {
	w.count.Evaluated++
	u := w.p.Utility()
	w.least = min(w.least, u)
	if !w.transition(u, t) {
		w.p.Undo()
		return
	}
	w.count.Accepted++
	w.cur = u
	w.keepBest(u > w.best || w.s.Paper && u == w.best)
}

func (w *run) keepBest(better bool) {
	if better {
		w.best = w.cur
		w.p.Save()
	}
}

// transition is the document's: always up, down with probability e^(difference ÷ temperature).
func (w *run) transition(u int64, t float64) bool {
	if u >= w.cur {
		return true
	}
	scale := t * unit
	if !w.s.Paper {
		scale = t * float64(w.best-w.least)
	}
	return scale > 0 && w.rng.Float64() < math.Exp(float64(u-w.cur)/scale)
}
