// Package demand estimates the traffic between racks: all of it (the trace), what waits at hosts, or
// what port counters have counted. Each estimate is a pure function of its arguments.
//
// It does not decide what an estimate is good for: circuit policies do.
package demand

import (
	"lightloom/controller"
	"lightloom/pathmap"
)

// Matrix is payload that one rack has for another, [source][destination]. Its diagonal is zero.
type Matrix [][]pathmap.Bytes

// New returns a matrix of zeros.
func New(racks int) Matrix {
	m := make(Matrix, racks)
	cells := make([]pathmap.Bytes, racks*racks)
	for i := range m {
		m[i], cells = cells[:racks:racks], cells[racks:]
	}
	return m
}

// Sum returns all of it.
func (m Matrix) Sum() pathmap.Bytes {
	sum := pathmap.Bytes(0)
	for i := range m {
		for _, b := range m[i] {
			sum += b
		}
	}
	return sum
}

// Backlog is what hosts' sockets hold, as c-Through measures it (Wang et al., c-Through: part-time
// optics in data centers, SIGCOMM 2010, section 3.1): of each host flow at most its socket's buffer, as
// bytes that an application has not written yet are not visible. The larger the buffer, the closer to
// the oracle.
func Backlog(v *controller.View, buffer pathmap.Bytes) Matrix {
	return perHostFlow(v, func(left pathmap.Bytes) pathmap.Bytes { return min(left, buffer) })
}

// perHostFlow sums what is known of each live host flow by pair of racks.
func perHostFlow(v *controller.View, known func(left pathmap.Bytes) pathmap.Bytes) Matrix {
	m := New(v.Fabric.Racks)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if !c.Started {
			continue
		}
		for row := range c.Src {
			if s, d := v.HostRack(c.Src[row]), v.HostRack(c.Dst[row]); s != d {
				m[s][d] += known(c.LeftBytes(row))
			}
		}
	}
	return m
}
