package report

import (
	"fmt"
	"math"
	"slices"
)

// Health is what a run on packets has measured of its own error: real time and other programs are in
// its figures.
type Health struct {
	Probe       float64 `json:"probe_error"`         // of a coflow of known ideal time, sent before and after: the larger
	TimerMean   float64 `json:"timer_seconds_mean"`  // how late this machine woke who slept
	TimerP99    float64 `json:"timer_seconds_p99"`   // by nearest rank
	OwnCores    float64 `json:"own_cores"`           // used by the run, on average
	StolenCores float64 `json:"stolen_cores"`        // used by others
	Waiting     float64 `json:"waiting"`             // share of the time in which something waited for a core
	Realtime    bool    `json:"realtime,omitempty"`  // the run went before other programs: these waited, not the run
	Coflows     int     `json:"coflows"`             // of which the mean CCT is
	MeanCCT     float64 `json:"cct_seconds_mean"`    // of all of them
	Slowdown    float64 `json:"slowdown"`            // their CCTs together ÷ what they would take alone; 0: not known
	Moves       int     `json:"moves"`               // of circuits
	PacketShare float64 `json:"packet_share"`        // of the bytes between racks
	Expected    float64 `json:"expected_error_mean"` // of the mean CCT, as a share
	Unknown     bool    `json:"unknown,omitempty"`   // the machine was too busy for circuits: Expected is too small
}

// From which expected error on a row is marked, and from which a run is made again; and how much of a core others
// can take from a run that does not go before them.
const (
	MarkedError    = 0.10
	RefusedError   = 0.25
	ToleratedCores = 0.3
)

// What the expected error of a run is made of, fitted as in docs/decisions/0073. A coflow waits for
// several wake-ups, one after the other, from its decision to its last acknowledgement. How coflows
// that contend are served differs a little, as they come in another order; it evens out over many.
// Circuits are held for a time, so what others delay leaves bytes to packets.
const (
	lateWakeUps      = 10   // of a coflow, each as late as one timer in a hundred
	lateWithCircuits = 5.5  // likewise, with circuits: more of their coflows take no packets
	spreadOfPackets  = 0.01 // of what a coflow takes beyond its time alone, by the coflow
	spreadOfCircuits = 0.07 // likewise, with circuits
	errorOfStolen    = 0.05 // of circuits, by the stolen core
	mostWaiting      = 0.3  // share of the time: above it circuits come later than in the runs that were fitted
)

// Expect sets the expected error from all else.
func (h *Health) Expect() {
	contended, coflows := max(h.Slowdown-1, 0), math.Sqrt(float64(max(h.Coflows, 1)))
	wakeUps, spread := float64(lateWakeUps), spreadOfPackets
	if h.Moves > 0 {
		wakeUps, spread = lateWithCircuits, spreadOfCircuits
	}
	h.Expected = spread * contended / coflows
	if h.MeanCCT > 0 {
		h.Expected += wakeUps * h.TimerP99 / h.MeanCCT
	}
	if h.Moves > 0 && !h.Realtime {
		h.Expected += errorOfStolen * h.StolenCores
	}
	h.Expected = max(h.Expected, h.Probe)
	h.Unknown = h.Moves > 0 && !h.Realtime && h.Waiting > mostWaiting
}

// marked ends an error that is large or not known. The page has a link to the reason in its place.
const marked = " (!)"

// String says what is expected, and marks it where it is large.
func (h *Health) String() string {
	switch {
	case h == nil:
		return "–"
	case h.Unknown:
		return "not known" + marked
	case h.Expected > MarkedError:
		return fmt.Sprintf("±%.0f %%", 100*h.Expected) + marked
	}
	return fmt.Sprintf("±%.1f %%", 100*h.Expected)
}

// healthy returns the line of expected errors, if some row has one.
func (r *Report) healthy() []line {
	if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Health != nil }) {
		return nil
	}
	return []line{text(lineError, meansCCT, func(p *Policy) string { return p.Health.String() })}
}
