package explain

import (
	"fmt"
	"math"

	"lightloom/controller/policy/route"
	"lightloom/controller/topoeng"
)

// Topology is why circuits over all switches move, or stay. Times are seconds; nil is never.
type Topology struct {
	Moves bool `json:"moves"`
	// until all that has a circuit before or after is sent, and what no topology is below
	Stay  *float64 `json:"stay_seconds"`
	Move  *float64 `json:"move_seconds"`
	Bound *float64 `json:"bound_seconds"`
	// the reconfiguration delay below which it moves; below zero: whatever it is, it stays
	BreakEven float64 `json:"break_even_seconds"`

	Left      Certificate `json:"left_to_packets_seconds"` // seconds of a circuit
	Disturbed Certificate `json:"disturbed_circuits"`
}

// Certificate is what a decision reaches, and what none is below.
type Certificate struct {
	Value float64 `json:"value"`
	Bound float64 `json:"bound"`
	Exact bool    `json:"exact"` // it is proven to be the best
}

func certificate(c topoeng.Certificate) Certificate { return Certificate{c.Value, c.Bound, c.Exact} }

func (c Certificate) String() string {
	if c.Exact {
		return fmt.Sprintf("%.4g, the least", c.Value)
	}
	return fmt.Sprintf("%.4g, %.4g at least", c.Value, c.Bound)
}

func (l *Line) topology(w *route.TopologyWhy) {
	d := w.Decision
	l.What = "topology"
	l.Topology = &Topology{Moves: d.Reconfigure, Stay: finite(d.Stay), Move: finite(d.Move), Bound: finite(d.Bound),
		BreakEven: d.BreakEven.Seconds(), Left: certificate(w.Left), Disturbed: certificate(w.Disturbed)}
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func (t *Topology) String() string {
	verb := "stay"
	if t.Moves {
		verb = "move"
	}
	seconds := func(x *float64) string {
		if x == nil {
			return "never"
		}
		return fmt.Sprintf("%.4g s", *x)
	}
	return fmt.Sprintf("circuits %s: all is sent after %s without a move, after %s with one, after %s at least; "+
		"it turns at a reconfiguration delay of %.4g s; seconds of a circuit left to packets: %s; "+
		"standing circuits disturbed: %s", verb,
		seconds(t.Stay), seconds(t.Move), seconds(t.Bound), t.BreakEven, t.Left, t.Disturbed)
}

// Clearance is how good a schedule is that carries pairs of racks over all switches. No schedule is below its bound in
// which each pair takes one circuit, after the least reconfiguration delay of all switches unless that is there.
type Clearance struct {
	All      Certificate `json:"all_carried_seconds"` // until the last of the pairs is carried
	Gap      float64     `json:"gap"`                 // above the bound, as a part of it
	Pairs    int         `json:"pairs"`
	Reserved float64     `json:"reserved_seconds"` // so much of the schedule; what is left then is in the next one
}

func (l *Line) clearance(w *route.ClearanceWhy) {
	all := certificate(w.Makespan)
	all.Value, all.Bound = all.Value/1e9, all.Bound/1e9
	l.What = "clearance"
	l.Clearance = &Clearance{All: all, Gap: w.Makespan.Gap(), Pairs: w.Pairs, Reserved: w.Reserved.Seconds()}
}

func (c *Clearance) String() string {
	return fmt.Sprintf("circuits carry what %d pairs of racks have after %.4g s, %.3g %% above the bound of %.4g s, "+
		"which counts one circuit for each pair and the shortest delay for each new one; the first %.4g s are reserved",
		c.Pairs, c.All.Value, 100*c.Gap, c.All.Bound, c.Reserved)
}
