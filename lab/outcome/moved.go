package outcome

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/lab/report"
	"lightloom/southbound"
)

// MoveSums sums up the moves of a simulated run as it goes, so that neither the state nor the switch's
// log of light has to hold a million of them.
type MoveSums struct {
	ports   int
	seen    int64              // moves that step has met
	intents [][2]time.Duration // by input and output: the last two intents, the later one first; unintended before
	last    [2][]time.Duration // by input, and by output: when its light last ended
	Sums    report.Moved
}

const unintended = time.Duration(-1)

// NewMoveSums returns empty sums for an optical switch with that many ports.
func NewMoveSums(ports int) *MoveSums {
	return &MoveSums{ports: ports, intents: slices.Repeat([][2]time.Duration{{unintended,
		unintended}}, ports*ports),
		last: [2][]time.Duration{make([]time.Duration, ports), make([]time.Duration, ports)}}
}

// Step notes the intents of the moves that have come since it was last called.
func (x *MoveSums) Step(d *state.Data) {
	if x == nil {
		return
	}
	for i := len(d.Moves) - int(d.Forgot+int64(len(d.Moves))-x.seen); i < len(d.Moves); i++ {
		x.intend(&d.Moves[i])
		x.seen++
	}
}

func (x *MoveSums) intend(m *state.Move) {
	at := &x.intents[int(m.In)*x.ports+int(m.Out)]
	at[0], at[1] = m.Intent, at[0]
}

func compareLit(a, b device.LitInterval) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
}

// Lit adds an interval of light; those of one port must come in order of time. It counts a port as dark
// since its last light only if this move ended that light: light that ended before the move was
// intended left the port idle.
func (x *MoveSums) Lit(l device.LitInterval) {
	addTook(&x.Sums, l.Took)
	in, out := &x.last[0][l.In], &x.last[1][l.Out]
	gone := max(*in, *out)
	intents := x.intents[int(l.In)*x.ports+int(l.Out)]
	began := intents[0]
	if began > l.From {
		began = intents[1]
	}
	if gone > 0 && began >= 0 && began <= l.From && gone >= began {
		x.Sums.Darks.Add(l.From - gone)
	}
	*in, *out = max(*in, l.To), max(*out, l.To)
}

// Forgotten adds moves whose circuits have ended.
func (x *MoveSums) Forgotten(moves []state.Move) {
	for i := range moves {
		addMove(&x.Sums, &moves[i], moves[i].Ended)
	}
}

// Close adds, at the end of the run, the moves that are in the state and the light that is still on.
func (x *MoveSums) Close(d *state.Data, log []device.LitInterval, end time.Duration) {
	if x == nil {
		return
	}
	x.Step(d)
	log = slices.DeleteFunc(slices.Clone(log),
		func(l device.LitInterval) bool { return l.To != southbound.Never })
	slices.SortFunc(log, compareLit)
	for _, l := range log {
		x.Lit(l)
	}
	for i := range d.Moves {
		addMove(&x.Sums, &d.Moves[i], end)
	}
}

// interval returns a move for a picture; its circuit was up until end.
func interval(m *state.Move, end time.Duration) report.CircuitInterval {
	inService := m.InService
	if inService == state.Unset {
		inService = end
	}
	return report.CircuitInterval{In: m.In, Out: m.Out, Coflow: m.Coflow, Moving: m.Intent,
		InService: inService, End: end}
}
