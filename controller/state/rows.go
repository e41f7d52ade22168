package state

import (
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Rows calls f with each row of a coflow between the racks of two OCS ports that has not ended. Rows
// are sorted by destination, then source, and a rack's hosts follow each other.
func (s *State) Rows(c *Coflow, in, out southbound.Port, f func(row int32)) {
	if len(c.Done) == 0 {
		return
	}
	if row, end, ok := s.rowsTo(c, in, out); ok {
		c.alive(row, end, f)
		return
	}
	hosts := s.hostsOf(out)
	dst, last := hosts[0], hosts[1]
	for row := int32(0); dst < last; dst++ {
		var end int32
		row, end = c.between(row, dst, s.hostsOf(in))
		c.alive(row, end, f)
		if row = end; int(row) == len(c.Done) {
			return
		}
		dst = max(dst, c.Columns.Dst[row]-1) // hosts in between receive nothing
	}
}

// rowsTo returns the rows from one to before another of a coflow that has some, where the rack of the
// output has one host.
func (s *State) rowsTo(c *Coflow, in, out southbound.Port) (row, end int32, ok bool) {
	x := &s.found[in] // a circuit's rows are asked for as it is planned, as it is lit and as they end
	if x.of == &c.Done[0] && x.out == out {
		return x.row, x.end, true
	}
	hosts := s.hostsOf(out)
	if hosts[1] != hosts[0]+1 {
		return 0, 0, false
	}
	*x = found{&c.Done[0], out, 0, 0}
	x.row, x.end = c.to(hosts[0], s.hostsOf(in))
	return x.row, x.end, true
}

// found is the rows of a coflow from an input to an output, as they were found last.
type found struct {
	of       *bool // the first of its Done: of no other coflow, and of no other rows that it had before
	out      southbound.Port
	row, end int32
}

// hostsOf returns the hosts of the rack of an OCS port: from one to before another.
func (s *State) hostsOf(port southbound.Port) [2]southbound.HostID {
	rack := s.rack(port)
	return [2]southbound.HostID{southbound.HostID(s.fabric.FirstHost[rack]),
		southbound.HostID(s.fabric.FirstHost[rack+1])}
}

// between returns the rows, from one to before another, of a destination and sources; none is before a
// given row.
func (c *Coflow) between(first int32, dst southbound.HostID, src [2]southbound.HostID) (row, end int32) {
	row = c.seek(first, dst, src[0])
	for end = row; int(end) < len(c.Done) && c.Columns.Dst[end] == dst && c.Columns.Src[end] < src[1]; end++ {
	}
	return row, end
}

// byDst is where the rows of each destination of a coflow begin, and after the last one end.
type byDst struct {
	of    *bool // as found has it
	low   southbound.HostID
	first []int32
}

// to returns what between does for one destination among all rows. Where hosts without rows are not the
// most of those between the first destination and the last, it knows where each one's rows begin once
// it has been asked.
func (c *Coflow) to(dst southbound.HostID, src [2]southbound.HostID) (row, end int32) {
	x := &c.byDst
	if x.of != &c.Done[0] {
		low, high := c.Columns.Dst[0], c.Columns.Dst[len(c.Done)-1]
		if int(high-low) >= len(c.Done) {
			return c.between(0, dst, src)
		}
		*x = byDst{&c.Done[0], low, c.firsts(low, high)}
	}
	if dst < x.low || int(dst-x.low)+1 >= len(x.first) {
		return 0, 0
	}
	from := c.Columns.Src
	row, last := x.first[dst-x.low], x.first[dst-x.low+1]
	for high := last; row < high; {
		if m := int32(uint32(row+high) / 2); from[m] < src[0] {
			row = m + 1
		} else {
			high = m
		}
	}
	for end = row; end < last && from[end] < src[1]; end++ {
	}
	return row, end
}

// firsts lists where the rows of the destinations from one to another begin, and where the last one's end.
func (c *Coflow) firsts(low, high southbound.HostID) []int32 {
	first := make([]int32, high-low+2)
	for row, dst := range c.Columns.Dst {
		first[dst-low+1] = int32(row) + 1
	}
	for k := 1; k < len(first); k++ {
		first[k] = max(first[k], first[k-1]) // one without rows
	}
	return first
}

// alive calls f with the rows from one to before another that have not ended.
func (c *Coflow) alive(row, end int32, f func(row int32)) {
	for ; row < end; row++ {
		if !c.Done[row] {
			f(row)
		}
	}
}

// seek returns the first row from one on that is of a later destination, or of that destination and of
// that source or a later one.
func (c *Coflow) seek(row int32, dst, src southbound.HostID) int32 {
	to, from := c.Columns.Dst, c.Columns.Src
	first, end := int(row), len(c.Done)
	for first < end {
		m := int(uint(first+end) / 2)
		if to[m] < dst || to[m] == dst && from[m] < src {
			first = m + 1
		} else {
			end = m
		}
	}
	return int32(first)
}

// Idle reports whether a reservation has nothing left to carry: its coflow is over, or all its rows
// between the two racks are. One for any coflow is never idle.
func (s *State) Idle(r *controller.CircuitReservation) bool {
	if r.Coflow == controller.AnyCoflow {
		return false
	}
	c := s.Coflow(r.Coflow)
	if len(c.Done) == 0 {
		return true
	}
	if row, end, ok := s.rowsTo(c, r.In, r.Out); ok {
		return !slices.Contains(c.Done[row:end], false)
	}
	idle := true
	s.Rows(c, r.In, r.Out, func(int32) { idle = false })
	return idle
}
