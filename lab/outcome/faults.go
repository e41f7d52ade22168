package outcome

import (
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/fault"
	"lightloom/lab/report"
	"lightloom/pathmap"
)

// FaultSpan is a fault from its beginning to its end.
type FaultSpan struct {
	fault.Fault
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"` // state.Unset while it lasts
	// Settled is when the last table of a packet switch that was changed for it became effective; state.Unset where none
	// was. Healed is the same for its end.
	Settled time.Duration `json:"settled_ns"`
	Healed  time.Duration `json:"healed_ns"`
}

// Sample is how many bytes of payload had been received at an instant.
type Sample struct {
	At    time.Duration `json:"at_ns"`
	Bytes pathmap.Bytes `json:"bytes"`
}

// intervals returns the faults in the report's form.
func intervals(spans []FaultSpan, end time.Duration) []report.FaultInterval {
	var out []report.FaultInterval
	for _, s := range spans {
		f := report.FaultInterval{Kind: s.Kind.String(), Name: s.Name, From: s.From, To: s.To,
			Lasts: s.To == state.Unset}
		if f.Lasts {
			f.To = max(end, s.From)
		}
		if s.Settled != state.Unset {
			f.Rerouted, f.WasRerouted = s.Settled-s.From, true
		}
		if s.Healed != state.Unset {
			f.Restored, f.WasRestored = s.Healed-s.To, true
		}
		out = append(out, f)
	}
	return out
}

// drawnLevels is the most intervals that a timeline of received bytes has.
const drawnLevels = 240

// received thins levels out to at most most samples, evenly over time, and returns the bytes received in between.
func received(levels []Sample, most int) []report.Received {
	if len(levels) < 2 {
		return nil
	}
	first, last := levels[0], levels[len(levels)-1]
	step := max((last.At-first.At)/time.Duration(most), 1)
	var out []report.Received
	was := first
	for _, l := range levels[1:] {
		if l.At-was.At < step && l != last || l.At == was.At {
			continue
		}
		out = append(out, report.Received{From: was.At, To: l.At, Bytes: l.Bytes - was.Bytes})
		was = l
	}
	return out
}
