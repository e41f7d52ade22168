package report

import (
	"fmt"
	"slices"
)

// Health is what a run on packets has measured of its own error: real time and other programs are in its figures.
type Health struct {
	Probe       float64 `json:"probe_error"`         // of a coflow of known ideal time, sent before and after: the larger
	TimerMean   float64 `json:"timer_seconds_mean"`  // how late this machine woke who slept
	TimerP99    float64 `json:"timer_seconds_p99"`   // by nearest rank
	OwnCores    float64 `json:"own_cores"`           // used by the run, on average
	StolenCores float64 `json:"stolen_cores"`        // used by others
	Waiting     float64 `json:"waiting"`             // share of the time in which something waited for a core
	Coflows     int     `json:"coflows"`             // of which the mean CCT is
	MeanCCT     float64 `json:"cct_seconds_mean"`    // of all of them
	Slowdown    float64 `json:"slowdown"`            // their CCTs together ÷ what they would take alone; 0: not known
	Moves       int     `json:"moves"`               // of circuits
	Expected    float64 `json:"expected_error_mean"` // of the mean CCT, as a share
}

// From which expected error on a row is marked, and from which a run is made again.
const (
	MarkedError  = 0.10
	RefusedError = 0.25
)

// What an undisturbed run is off by, and what a stolen core adds, as in the runs of docs/bench/packets. Circuits are
// held for a time, so what delays a move leaves bytes to packets, which are slower by far.
const (
	errorOfPackets, stolenOfPackets   = 0.025, 0.03
	errorOfCircuits, stolenOfCircuits = 0.045, 0.10
)

// Expect sets the expected error from all else.
func (h *Health) Expect() {
	base, each := errorOfPackets, stolenOfPackets
	if h.Moves > 0 {
		base, each = errorOfCircuits, stolenOfCircuits
	}
	h.Expected = max(base, h.Probe) + each*h.StolenCores
}

// String says what is expected, and marks it where it is large.
func (h *Health) String() string {
	switch {
	case h == nil:
		return "–"
	case h.Expected > MarkedError:
		return fmt.Sprintf("±%.0f %% (!)", 100*h.Expected)
	}
	return fmt.Sprintf("±%.0f %%", 100*h.Expected)
}

// healthy returns the line of expected errors, if some row has one.
func (r *Report) healthy() []line {
	if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Health != nil }) {
		return nil
	}
	return []line{{name: "CCT mean, expected error", of: func(p *Policy) string { return p.Health.String() }}}
}
