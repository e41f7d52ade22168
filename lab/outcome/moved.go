package outcome

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/lab/report"
	"lightloom/southbound"
	"lightloom/southbound/meter"
)

// MoveSums sums up the moves of a simulated run as it goes, so that neither the state nor the switch's
// log of light has to hold a million of them.
type MoveSums struct {
	ports   int
	seen    int64              // moves that step has met
	intents [][2]time.Duration // by input and output: the last two intents, the later one first; unintended before
	last    [2][]time.Duration // by input, and by output: when its light last ended
	Sums    report.Moved
	took    [3]*report.Times               // of sums: the stages of an interval of light; nil: there was none
	seenBy  [len(seenStages)]*report.Times // of sums, likewise: the stages that the controller sees
	made    int64                          // moves that came into service
	All     int64
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
		m := &d.Moves[i]
		at := &x.intents[int(m.In)*x.ports+int(m.Out)]
		at[0], at[1] = m.Intent, at[0]
		x.seen++
	}
}

// Lit adds an interval of light; those of one port must come in order of time. It counts a port as dark
// since its last light only if this move ended that light: light that ended before the move was
// intended left the port idle.
func (x *MoveSums) Lit(l device.LitInterval) {
	if l.Took.Known {
		if x.took[0] == nil {
			x.took = [3]*report.Times{x.Sums.Stage(meter.StageApply), x.Sums.Stage(meter.StageDark),
				x.Sums.Stage(meter.StageLock)}
		}
		x.took[0].Add(max(l.Took.Apply, 0))
		x.took[1].Add(max(l.Took.Dark, 0))
		x.took[2].Add(max(l.Took.Lock, 0))
	}
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
		x.move(&moves[i], moves[i].Ended)
	}
}

// move adds a move whose circuit was up until end.
func (x *MoveSums) move(m *state.Move, end time.Duration) {
	x.All++
	x.Sums.Circuit(interval(m, end))
	if m.InService == state.Unset {
		return
	}
	x.made++
	x.Sums.ReconfigurationDelays.Add(m.InService - m.Intent)
	if s := m.Stages; s.Drained > 0 && s.Accepted > 0 && s.Connected > 0 {
		for k, took := range stagesOf(m.Intent, s, m.InService) {
			if took == unnoted {
				continue
			}
			if x.seenBy[k] == nil {
				x.seenBy[k] = x.Sums.Stage(seenStages[k])
			}
			x.seenBy[k].Add(max(took, 0))
		}
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
	slices.SortFunc(log, func(a, b device.LitInterval) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
	})
	for _, l := range log {
		x.Lit(l)
	}
	for i := range d.Moves {
		m := &d.Moves[i]
		until := m.Ended
		if until == state.Unset {
			until = end
		}
		x.move(m, until)
	}
}

// into writes the sums into a result.
func (x *MoveSums) into(r *report.PolicyResult) {
	r.Moved, r.Circuits, r.Reconfigurations = &x.Sums, x.Sums.First(), x.made
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
