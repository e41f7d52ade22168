package certified

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lightloom/controller/solve"
)

// MinMin is the classic baseline: time and again it places the task that can be placed so that the job
// ends earliest, where it does, and then reduces energy as TaPRA does (section 3.6.1.3).
func MinMin(t *Tasks, by Sharing) (*Placed, error) {
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	p.sharing = by
	if err := p.minMin(); err != nil {
		return nil, err
	}
	return p.result(), nil
}

func (p *placing) minMin() error {
	placed, sofar := make([]bool, len(p.Load)), 0.0
	for range p.Load {
		least, task, to := math.Inf(1), -1, int32(-1)
		for i := range p.Load {
			if placed[i] {
				continue
			}
			for s := range p.in {
				if w := p.work(i, int32(s)); !math.IsInf(w, 1) && p.open(int32(s)) {
					if last := max(sofar, p.with(w, int32(s))); last < least {
						least, task, to = last, i, int32(s)
					}
				}
			}
		}
		if task < 0 {
			return &solve.InfeasibleError{Reason: "a task finds no slot on a server where it can run"}
		}
		p.put(task, to)
		placed[task], sofar = true, least
	}
	return p.reduce()
}

// Breeding is how the genetic baselines search. The documents that they come from give no such figures.
type Breeding struct {
	Population int     // placements in a generation
	Mutation   float64 // the part of a child's tasks that go to a server drawn at random
	Cooling    float64 // GSA: by what the temperature is multiplied from one generation to the next
	Heat       float64 // GSA: the first temperature, as a part of the first best job completion time
}

// Bred are the settings with which the baselines run.
func Bred() Breeding { return Breeding{Population: 40, Mutation: 0.02, Cooling: 0.97, Heat: 0.1} }

// Search is a search for a placement that ends when its effort says so. Effort.Trials counts placements.
type Search = func(*Tasks, Effort, *rand.Rand) (*Placed, error)

// MMGA is the genetic algorithm whose first generation holds MinMin's placement (section 3.6.1.3). What
// takes too much energy is reduced by REC.
func MMGA(by Sharing) Search {
	return func(t *Tasks, e Effort, rng *rand.Rand) (*Placed, error) {
		return t.breed(e, rng, by, true, false)
	}
}

// GSA is the genetic simulated annealing of section 3.6.1.3: children that are worse than a parent
// replace it with a probability that falls from generation to generation.
func GSA(by Sharing) Search {
	return func(t *Tasks, e Effort, rng *rand.Rand) (*Placed, error) {
		return t.breed(e, rng, by, false, true)
	}
}

// herd is one generation.
type herd struct {
	*placing
	Breeding
	rng    *rand.Rand
	can    [][]int32 // by task: servers where it can run
	server [][]int32 // by placement and task
	last   []float64 // by placement
	best   []int32   // by task, of the best placement so far
	least  float64
	left   int // placements that may be tried
}

func (t *Tasks) breed(e Effort, rng *rand.Rand, by Sharing, minMin, anneal bool) (*Placed, error) {
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	p.sharing = by
	h := &herd{placing: p, Breeding: Bred(), rng: rng, left: e.trials(), least: math.Inf(1)}
	h.can = make([][]int32, len(t.Load))
	for i := range t.Load {
		for s := range p.in {
			if !math.IsInf(p.work(i, int32(s)), 1) {
				h.can[i] = append(h.can[i], int32(s))
			}
		}
	}
	if minMin {
		if err := p.minMin(); err != nil {
			return nil, err
		}
		h.add(slices.Clone(p.server), p.last())
		p.clear()
	}
	h.first(e)
	heat := h.Heat * h.least
	for h.left > 0 && len(h.server) > 0 && !e.stopped() {
		h.generation(e, anneal, heat)
		heat *= h.Cooling
	}
	if h.best == nil {
		return nil, &solve.InfeasibleError{Reason: fmt.Sprintf("none of %d placements drawn keeps all limits", e.trials())}
	}
	for i, s := range h.best {
		p.put(i, s)
	}
	out := p.result()
	out.Trials, out.Exhausted = e.trials()-h.left, h.left <= 0
	return out, nil
}

// clear takes all tasks away.
func (p *placing) clear() {
	for i, s := range p.server {
		if p.slots != nil && s != nowhere {
			p.slots[s]++
		}
		p.server[i] = nowhere
	}
	clear(p.sum)
	clear(p.count)
	clear(p.most)
	p.energy = 0
}

func (h *herd) add(server []int32, last float64) {
	h.server, h.last = append(h.server, server), append(h.last, last)
	h.note(server, last)
}

func (h *herd) note(server []int32, last float64) {
	if last < h.least {
		h.least, h.best = last, slices.Clone(server)
	}
}

// first fills the generation with placements drawn uniformly. It does not stop before it has one.
func (h *herd) first(e Effort) {
	for len(h.server) < h.Population && h.left > 0 && (h.best == nil || !e.stopped()) {
		server := make([]int32, len(h.Load))
		for i := range server {
			server[i] = h.can[i][h.rng.IntN(len(h.can[i]))]
		}
		if last, ok := h.try(server); ok {
			h.add(server, last)
		}
	}
}

// try makes a placement keep slots and energy, and returns when its last task ends.
func (h *herd) try(server []int32) (last float64, ok bool) {
	h.left--
	defer h.clear()
	for i, s := range server {
		if h.settle(i, s) != nil {
			return 0, false
		}
	}
	if h.reduce() != nil {
		return 0, false
	}
	copy(server, h.placing.server)
	return h.placing.last(), true
}

// generation has each placement of the generation meet a better one of two, and lets the child take its
// place if it is better, or by chance if annealed.
func (h *herd) generation(e Effort, anneal bool, heat float64) {
	for i := range h.server {
		if h.left <= 0 || e.stopped() {
			return
		}
		child := h.child(h.server[i], h.server[h.better()])
		last, ok := h.try(child)
		if !ok {
			continue
		}
		h.note(child, last)
		if last < h.last[i] || anneal && heat > 0 && h.rng.Float64() < math.Exp((h.last[i]-last)/heat) {
			h.server[i], h.last[i] = child, last
		}
	}
}

// better draws two and returns the better one.
func (h *herd) better() int {
	a, b := h.rng.IntN(len(h.server)), h.rng.IntN(len(h.server))
	if h.last[b] < h.last[a] {
		return b
	}
	return a
}

// child takes each task's server from one of its parents, and a few from none.
func (h *herd) child(a, b []int32) []int32 {
	out := slices.Clone(a)
	for i := range out {
		switch x := h.rng.Float64(); {
		case x < h.Mutation:
			out[i] = h.can[i][h.rng.IntN(len(h.can[i]))]
		case x < (1+h.Mutation)/2:
			out[i] = b[i]
		}
	}
	return out
}

// MostEfficient puts each task on the most efficient server that has a slot, and searches nothing: for
// jobs that are too large to be searched.
func MostEfficient(t *Tasks) (*Placed, error) {
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	if err := p.settleAll(p.best); err != nil {
		return nil, err
	}
	if p.tooMuch() {
		return nil, &solve.InfeasibleError{Reason: fmt.Sprintf("the tasks take %.6g of energy on the best servers that have "+
			"slots, and %.6g are allowed", p.energy, p.Energy)}
	}
	return p.result(), nil
}
