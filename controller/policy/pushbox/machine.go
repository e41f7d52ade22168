package pushbox

import (
	"math"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Machine is a host with slots, as its own network card shows it.
type Machine struct {
	Rack     southbound.RackID
	Free     int     // slots
	Inputs   int     // running tasks that receive
	Smallest float64 // bytes of the smallest coflow that one of them belongs to; +Inf where none receives
	Left     float64 // bytes that they have still to receive
	Rate     float64 // bytes a second that it receives, estimated
	Use      float64 // share of its line that it has used since the first of them began
}

// Transfer is the time in seconds until all running tasks of a machine have received their input: what
// is left over the estimated rate (section 4, "Being Predictable").
func (m *Machine) Transfer() float64 {
	if m.Left <= 0 {
		return 0
	}
	return m.Left / m.Rate
}

// Memory is the time constant of the moving average of the receiving rate, which the document leaves open.
const Memory = time.Second

// Rate is the exponential moving average of a machine's receiving rate, in bytes a second: it was the
// line's rate when the first of the running tasks began to receive, and they have received so much in
// the time since.
func Rate(line, received float64, since time.Duration) float64 {
	if since <= 0 {
		return line
	}
	old := math.Exp(-float64(since) / float64(Memory))
	return max(line*old+received/since.Seconds()*(1-old), line*leastRate)
}

// leastRate is the share of its line below which no machine's rate is estimated: what stands still now
// goes on later.
const leastRate = 0.01

// Line is how many bytes of payload a link brings in a second.
func Line(link pathmap.BitsPerSecond) float64 { return float64(link) / 8 }

// take counts a task that has been placed on the machine.
func (m *Machine) take(j *Job, t Task) {
	m.Free--
	if t.Input <= 0 {
		return
	}
	m.Inputs++
	m.Left += t.Input
	m.Smallest = min(m.Smallest, j.coflow(t))
}
