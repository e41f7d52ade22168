package controller

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Skewed reports whether the tasks of some stage receive unlike parts of what is sent to it.
func (j *Job) Skewed() bool {
	return slices.ContainsFunc(j.Edges, func(e Edge) bool { return e.Reducers != nil })
}

// Parts returns what part of an edge's bytes each task that receives them gets, of n.
func (e *Edge) Parts(n int) []float64 {
	if e.Reducers == nil {
		return slices.Repeat([]float64{1 / float64(n)}, n)
	}
	sum := int64(0)
	for _, part := range e.Reducers {
		sum += part
	}
	out := make([]float64, len(e.Reducers))
	for k, part := range e.Reducers {
		out[k] = float64(part) / float64(sum)
	}
	return out
}

// received returns the bytes of each task that receives an edge's: their parts, rounded so that the sum is the edge's.
func (e *Edge) received() []pathmap.Bytes {
	sum := uint64(0)
	for _, part := range e.Reducers {
		sum += uint64(part)
	}
	out, upTo, sent := make([]pathmap.Bytes, len(e.Reducers)), uint64(0), pathmap.Bytes(0)
	for k, part := range e.Reducers {
		upTo += uint64(part)
		all := portion(e.Bytes, upTo, sum)
		out[k], sent = all-sent, all
	}
	return out
}

// skewedByHost is byHost where tasks receive unlike parts.
func (e *Edge) skewedByHost(from, to []southbound.HostID) []Flow {
	each, a := e.received(), countByHost(from)
	var flows []Flow
	for rest := inHostOrder(to); len(rest) > 0; {
		dst, n, bytes := to[rest[0]], 0, pathmap.Bytes(0)
		for ; n < len(rest) && to[rest[n]] == dst; n++ {
			bytes += each[rest[n]]
		}
		upTo, sent := uint64(0), pathmap.Bytes(0)
		for _, src := range a {
			upTo += uint64(src.tasks)
			all := portion(bytes, upTo, uint64(len(from)))
			flows = append(flows, Flow{Src: src.host, Dst: dst, Bytes: all - sent,
				Count: int32(min(int64(src.tasks)*int64(n), math.MaxInt32))})
			sent = all
		}
		rest = rest[n:]
	}
	return flows
}

// checkReducers returns why tasks cannot receive such parts.
func (j *Job) checkReducers(e *Edge) error {
	tasks, sum := len(j.Stages[e.To].Tasks), int64(0)
	switch {
	case e.Kind != ScatterGather:
		return fmt.Errorf("has reducers, and its grouping is %v: only a %v has", e.Kind, ScatterGather)
	case len(e.Reducers) != tasks:
		return fmt.Errorf("has parts for %d reducers, and stage %d has %d tasks: name one part a task", len(e.Reducers), e.To,
			tasks)
	}
	for k, part := range e.Reducers {
		if part < 0 || part > int64(MaxBytes) {
			return fmt.Errorf("reducer %d has a part of %d; take 0 to %d", k, part, MaxBytes)
		}
		if sum += part; sum > int64(MaxBytes) {
			return fmt.Errorf("the parts of its reducers are more than %d together", MaxBytes)
		}
	}
	if sum == 0 {
		return errors.New("none of its reducers receives anything")
	}
	return nil
}
