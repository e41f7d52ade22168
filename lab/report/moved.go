package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// Times counts how often each duration occurred; of a million moves of circuits most take the same.
type Times struct {
	n     map[time.Duration]int64 // but for the last ones
	last  time.Duration
	again int64 // how often last was added in a row
	count int64
}

// Add counts one more time.
func (t *Times) Add(d time.Duration) {
	if d != t.last {
		t.write()
		t.last = d
	}
	t.again++
	t.count++
}

// write adds the last ones to n.
func (t *Times) write() {
	if t.n == nil {
		t.n = map[time.Duration]int64{}
	}
	if t.again > 0 {
		t.n[t.last] += t.again
		t.again = 0
	}
}

// Count returns how many times were added.
func (t *Times) Count() int { return int(t.count) }

// Percentiles returns p-quantiles by nearest rank, as Percentile does, in multiples of a unit; zeros of
// none.
func (t *Times) Percentiles(unit time.Duration, p ...float64) []float64 {
	t.write()
	out := make([]float64, len(p))
	sorted := slices.Sorted(maps.Keys(t.n))
	for k := range p {
		rank := max(int64(math.Ceil(p[k]*float64(t.count)-1e-9)), 1)
		for _, d := range sorted {
			if rank -= t.n[d]; rank <= 0 {
				out[k] = float64(d) / float64(unit)
				break
			}
		}
	}
	return out
}

// Moved sums up the moves of a run.
type Moved struct {
	ReconfigurationDelays Times         // of moves that came into service: from the intent on
	Darks                 Times         // without light
	Circuits              int           // how many there were
	Ports                 int           // one more than the highest input or output among them
	Last                  time.Duration // when the last of them ended
	// few, so they are found by a linear search, for each stage of each move
	stages []timesOf
	first  []CircuitInterval
	last   *CircuitInterval // none that is drawn comes after it; nil: not known yet
}

// timesOf is how long one of StageNames took.
type timesOf struct {
	name string
	took *Times
}

// Stage returns how long a stage of moves took.
func (m *Moved) Stage(name string) *Times {
	if took := m.known(name); took != nil {
		return took
	}
	m.stages = append(m.stages, timesOf{name, new(Times)})
	return m.stages[len(m.stages)-1].took
}

// known returns the times of a stage; nil if Stage was not called for it.
func (m *Moved) known(name string) *Times {
	for i := range m.stages {
		if m.stages[i].name == name {
			return m.stages[i].took
		}
	}
	return nil
}

// Circuit adds a circuit.
func (m *Moved) Circuit(c CircuitInterval) {
	m.Circuits++
	m.Ports = max(m.Ports, int(c.In)+1, int(c.Out)+1)
	m.Last = max(m.Last, c.End)
	if m.last != nil && compareDrawn(c, *m.last) > 0 {
		return // after the last of as many as are drawn
	}
	if m.first = append(m.first, c); len(m.first) >= 4*drawnCircuits {
		m.thin()
		last := m.first[len(m.first)-1]
		m.last = &last
	}
}

// thin keeps the circuits that can be drawn.
func (m *Moved) thin() {
	m.first = thinned(m.first)
}

// First returns the circuits that are drawn.
func (m *Moved) First() []CircuitInterval {
	m.thin()
	return m.first
}

// moved returns the sums of a result; empty ones if there were no moves.
func (p *PolicyResult) moved() *Moved { return cmp.Or(p.Moved, &Moved{}) }
