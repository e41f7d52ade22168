package workload

import (
	"time"

	"lightloom/pathmap"
)

// Megabyte is the trace format's unit: 10⁶ bytes, as the published simulators of circuit schedules count it.
const Megabyte pathmap.Bytes = 1e6

// Trace is a coflow-benchmark trace: coflows between racks, in the order of the file.
type Trace struct {
	Name    string // of the file, for messages
	Racks   int    // as the header says; not all of them need to occur
	Coflows []TraceCoflow
}

// TraceCoflow is one line of the trace. Each reducer receives its megabytes from all mappers alike.
type TraceCoflow struct {
	ID       int
	Arrival  time.Duration
	Mappers  []int32 // racks; one may occur twice
	Reducers []Reducer
	Line     int // of the file, from 1
}

// Reducer is one receiver of a coflow.
type Reducer struct {
	Rack int32
	MB   int64 // from all mappers together; at least one for each
}

// Width returns the number of flows.
func (c *TraceCoflow) Width() int { return len(c.Mappers) * len(c.Reducers) }

// MB returns the megabytes of all flows.
func (c *TraceCoflow) MB() int64 {
	sum := int64(0)
	for _, r := range c.Reducers {
		sum += r.MB
	}
	return sum
}

// From returns what mapper i (of n) sends to the reducer, in whole megabytes. What does not divide evenly is carried
// by the first mappers, one megabyte each, so that the sum is the reducer's.
func (r Reducer) From(i, n int) int64 {
	mb := r.MB / int64(n)
	if int64(i) < r.MB%int64(n) {
		mb++
	}
	return mb
}

// Totals are the sums of a trace or of jobs.
type Totals struct {
	Coflows int           `json:"coflows"`
	Flows   int64         `json:"flows"`
	Bytes   pathmap.Bytes `json:"bytes"`
}

// Totals returns the trace's sums.
func (t *Trace) Totals() Totals {
	sum := Totals{Coflows: len(t.Coflows)}
	for i := range t.Coflows {
		c := &t.Coflows[i]
		sum.Flows += int64(c.Width())
		sum.Bytes += pathmap.Bytes(c.MB()) * Megabyte
	}
	return sum
}
