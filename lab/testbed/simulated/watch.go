package simulated

import (
	"slices"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/flowsim"
	"lightloom/lab/outcome"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// queueWatch sums up on the simulator the bytes that wait for each link. They are linear in time
// between two events, so samples before and after each event miss nothing. In long runs samples are
// spread out.
type queueWatch struct {
	sim       *flowsim.Sim
	last      []float64 // at the last look
	now       []float64
	max, area []float64 // bytes; bytes × seconds
	at        time.Duration
	samples   int
	every     time.Duration // samples are so far apart at least
	due       bool          // the event that is going on is looked at
}

func newQueueWatch(sim *flowsim.Sim, links int) *queueWatch {
	return &queueWatch{sim: sim, last: make([]float64, links), now: make([]float64, links),
		max:  make([]float64, links),
		area: make([]float64, links), due: true}
}

// manySamples is the number of samples after which their distance doubles.
const manySamples = 1 << 13

// arrive samples before an event has any effect, step after it.
func (w *queueWatch) arrive(at time.Duration) {
	if w == nil {
		return
	}
	if w.due = at >= w.at+w.every; !w.due {
		return
	}
	w.sample(at)
	if w.samples++; w.samples == manySamples {
		w.samples, w.every = 0, max(2*w.every, at/manySamples)
	}
}

func (w *queueWatch) step(at time.Duration) {
	if w != nil && w.due {
		w.sample(at)
	}
}

func (w *queueWatch) sample(at time.Duration) {
	w.sim.Waiting(w.now)
	passed := (at - w.at).Seconds()
	for l, b := range w.now {
		w.area[l] += (w.last[l] + b) / 2 * passed
		w.max[l] = max(w.max[l], b)
	}
	w.last, w.now, w.at = w.now, w.last, at
}

// loads returns what was summed up; wire is the bytes of each link.
func (w *queueWatch) loads(end time.Duration, wire []pathmap.Bytes) []outcome.PortLoad {
	if w == nil {
		return nil
	}
	out := make([]outcome.PortLoad, len(w.max))
	for l := range out {
		out[l] = outcome.PortLoad{Bytes: wire[l], Max: w.max[l]}
		if end > 0 {
			out[l].Mean = w.area[l] / end.Seconds()
		}
	}
	return out
}

// circuitWatch counts the bytes that each circuit carries: those on its input's link from when it is in
// service until the next circuit of that input is, or the run ends.
type circuitWatch struct {
	sim   *flowsim.Sim
	on    []int32         // by input: the move whose circuit it carries, -1 for none
	since []pathmap.Bytes // by input: bytes of its link then
	bytes []pathmap.Bytes // by move
	open  []int32         // moves that are neither in service nor over, as far as looked at
	seen  int             // moves looked at
}

func newCircuitWatch(sim *flowsim.Sim, s *state.State) *circuitWatch {
	f := s.Fabric()
	if !f.HasOCS() {
		return nil
	}
	n := f.OCSPorts()
	return &circuitWatch{sim: sim, on: slices.Repeat([]int32{-1}, n), since: make([]pathmap.Bytes, n)}
}

// step looks for circuits that have become in service.
func (w *circuitWatch) step(d *state.Data) {
	if w == nil {
		return
	}
	for ; w.seen < len(d.Moves); w.seen++ {
		w.open, w.bytes = append(w.open, int32(w.seen)), append(w.bytes, 0)
	}
	keep := w.open[:0]
	for _, m := range w.open {
		switch move := &d.Moves[m]; {
		case move.InService != state.Unset:
			w.turn(move.In, m)
		case move.Ended == state.Unset:
			keep = append(keep, m)
		}
	}
	w.open = keep
}

// turn closes an input's present count and starts one for a move, or for none.
func (w *circuitWatch) turn(in southbound.Port, m int32) {
	n := w.sim.Into(in)
	if old := w.on[in]; old >= 0 {
		w.bytes[old] = n - w.since[in]
	}
	w.on[in], w.since[in] = m, n
}

// close returns the bytes by move, at the end of the run.
func (w *circuitWatch) close(d *state.Data) []pathmap.Bytes {
	if w == nil {
		return nil
	}
	w.step(d)
	for in := range w.on {
		w.turn(southbound.Port(in), -1)
	}
	return w.bytes
}
