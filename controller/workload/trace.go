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
	Racks   int    // as in the header; not all of them need to occur
	Coflows []TraceCoflow
}

// TraceCoflow is one line of the trace. Each reducer receives its bytes from all mappers alike.
type TraceCoflow struct {
	ID       int
	Arrival  time.Duration
	Mappers  []int32 // racks; one can occur twice
	Reducers []Reducer
	Line     int // of the file, from 1
}

// Reducer is one receiver of a coflow.
type Reducer struct {
	Rack  int32
	Bytes pathmap.Bytes // from all mappers together; 0: it receives nothing
}

// Width returns the number of flows.
func (c *TraceCoflow) Width() int { return len(c.Mappers) * len(c.Reducers) }

// Bytes returns the bytes of all flows.
func (c *TraceCoflow) Bytes() pathmap.Bytes {
	sum := pathmap.Bytes(0)
	for _, r := range c.Reducers {
		sum += r.Bytes
	}
	return sum
}

// From returns what mapper i (of n) sends to the reducer: whole megabytes where they are enough for
// all, else whole bytes. What does not divide evenly is carried by the first mappers, one of these
// each, so that the sum is the reducer's.
func (r Reducer) From(i, n int) pathmap.Bytes {
	unit := pathmap.Bytes(1)
	if r.Bytes%Megabyte == 0 && r.Bytes >= pathmap.Bytes(n)*Megabyte {
		unit = Megabyte
	}
	all := r.Bytes / unit
	out := all / pathmap.Bytes(n)
	if pathmap.Bytes(i) < all%pathmap.Bytes(n) {
		out++
	}
	return out * unit
}

// Totals are the sums of a trace or of jobs.
type Totals struct {
	Coflows int           `json:"coflows"`
	Flows   int64         `json:"flows"`
	Bytes   pathmap.Bytes `json:"bytes"`
}
