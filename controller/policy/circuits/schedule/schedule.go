// Package schedule holds port schedules of an optical switch, matchings one after the other, each for a
// while, and the published ways to make one from a matrix of demands. All of it is plain data in and
// plain data out.
//
// It knows no coflows, racks or instants: package circuits turns a schedule into reservations. Sunflow,
// which plans by coflow and needs no matchings, is there.
package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
)

// Matrix is how long each input has to send to each output on a circuit, [input][output],
// reconfiguration delays not counted. It is square, nothing in it is below zero, and nothing is on its
// diagonal.
type Matrix [][]time.Duration

// New returns a matrix of zeros.
func New(ports int) Matrix {
	m := make(Matrix, ports)
	cells := make([]time.Duration, ports*ports)
	for i := range m {
		m[i], cells = cells[:ports:ports], cells[ports:]
	}
	return m
}

// Clone returns a copy.
func (m Matrix) Clone() Matrix {
	c := New(len(m))
	for i := range m {
		copy(c[i], m[i])
	}
	return c
}

// Sums returns the sums of the rows and of the columns.
func (m Matrix) Sums() (rows, cols []time.Duration) {
	rows, cols = make([]time.Duration, len(m)), make([]time.Duration, len(m))
	for i := range m {
		for j, d := range m[i] {
			rows[i] += d
			cols[j] += d
		}
	}
	return rows, cols
}

// Largest returns the largest sum of a row or column: no schedule, even one without reconfiguration
// delays, is shorter.
func (m Matrix) Largest() time.Duration {
	rows, cols := m.Sums()
	t := time.Duration(0)
	for i := range rows {
		t = max(t, rows[i], cols[i])
	}
	return t
}

// Bound returns T(C): the longest sum over any port of a reconfiguration delay and the transfer for
// each of its demands. No schedule that sets every circuit up once or more from the dark is shorter.
func (m Matrix) Bound(delta time.Duration) time.Duration {
	c := m.Clone()
	for i := range c {
		for j := range c[i] {
			if c[i][j] > 0 {
				c[i][j] += delta
			}
		}
	}
	return c.Largest()
}

// Empty reports whether there is no demand.
func (m Matrix) Empty() bool { return m.Largest() == 0 }

// RoundUp rounds every demand up to a multiple of a unit, so that a decomposition does not end in slivers.
func (m Matrix) RoundUp(unit time.Duration) {
	for i := range m {
		for j, d := range m[i] {
			m[i][j] = (d + unit - 1) / unit * unit
		}
	}
}

// Slot is one matching and how long it holds. Where its circuit was not there just before, an input and
// its output are dark for the reconfiguration delay first; the others of the matching carry on.
type Slot struct {
	Long time.Duration
	Out  []southbound.Port // by input, southbound.NoPort for none
}

// Schedule is slots one after the other.
type Schedule struct {
	Lit   []southbound.Port // by input: what stood before the first slot; nil for nothing
	Slots []Slot

	// OfSwitch is how many ports each switch has, where the ports of several switches follow each other; 0:
	// all are of one.
	OfSwitch int
}

// Switches returns how many switches the schedule names, and those before them.
func (s *Schedule) Switches() int {
	if s.OfSwitch == 0 || len(s.Slots) == 0 {
		return 1
	}
	return len(s.Slots[0].Out) / s.OfSwitch
}

// BeyondPorts returns the first port at a switch of so many ports that it does not have, and the switch; -1, -1: all
// are there.
func (s *Schedule) BeyondPorts(ports int) (ocs, port int) {
	for _, slot := range s.Slots {
		for in, out := range slot.Out {
			if out == southbound.NoPort {
				continue
			}
			each := cmp.Or(s.OfSwitch, len(slot.Out))
			for _, p := range []int{in, int(out)} {
				if p%each >= ports {
					return p / each, p % each
				}
			}
		}
	}
	return -1, -1
}

// PortOf returns the number that a port of a switch has in the schedule, southbound.NoPort where it has none.
func (s *Schedule) PortOf(ocs int, port int32) southbound.Port {
	switch {
	case s.OfSwitch == 0 && ocs == 0:
		return southbound.Port(port)
	case s.OfSwitch == 0 || int(port) >= s.OfSwitch:
		return southbound.NoPort
	}
	return southbound.Port(ocs*s.OfSwitch) + southbound.Port(port)
}

// Long returns the length of the whole.
func (s *Schedule) Long() time.Duration {
	sum := time.Duration(0)
	for i := range s.Slots {
		sum += s.Slots[i].Long
	}
	return sum
}

// add appends a matching that is to carry for so long: longer by the reconfiguration delay if any
// circuit of it is new. A matching without circuits, or one for no time, is left out.
func (s *Schedule) add(out []southbound.Port, carry, delta time.Duration) (long time.Duration) {
	any, fresh := false, false
	for in, o := range out {
		any = any || o != southbound.NoPort
		fresh = fresh || o != southbound.NoPort && s.before(len(s.Slots), in) != o
	}
	if !any || carry <= 0 {
		return 0
	}
	if fresh {
		carry += delta
	}
	s.Slots = append(s.Slots, Slot{carry, slices.Clone(out)})
	return carry
}

// before returns where an input leads just before a slot.
func (s *Schedule) before(slot, in int) southbound.Port {
	switch {
	case slot > 0:
		return s.Slots[slot-1].Out[in]
	case in < len(s.Lit):
		return s.Lit[in]
	}
	return southbound.NoPort
}

// Circuit is one circuit from its intent to its end, counted from the beginning of the schedule.
type Circuit struct {
	In, Out  southbound.Port
	From, To time.Duration
	Carry    time.Duration // To − From without the reconfiguration delay, where it has one
}

// Circuits returns the circuits by (In, From): a circuit of consecutive slots is returned as one.
func (s *Schedule) Circuits(delta time.Duration) []Circuit {
	if len(s.Slots) == 0 {
		return nil
	}
	var all []Circuit
	for in := range s.Slots[0].Out {
		at, open := time.Duration(0), -1
		for k := range s.Slots {
			o := s.Slots[k].Out[in]
			switch was := s.before(k, in); {
			case o == southbound.NoPort:
				open = -1
			case o != was || open < 0:
				open = len(all)
				all = append(all, Circuit{In: southbound.Port(in), Out: o, From: at, To: at})
				if o != was {
					all[open].Carry = -delta
				}
			}
			at += s.Slots[k].Long
			if open >= 0 {
				all[open].Carry += at - all[open].To
				all[open].To = at
			}
		}
	}
	return all
}

// Check returns what is wrong with a schedule for a matrix, or nil: a port twice in a matching, a slot
// without time, a circuit that ends before its reconfiguration delay is over, an unmet demand.
func (s *Schedule) Check(m Matrix, delta time.Duration) error {
	for k := range s.Slots {
		if err := s.Slots[k].check(len(m)); err != nil {
			return fmt.Errorf("slot %d: %w", k, err)
		}
	}
	carried := New(len(m))
	for _, c := range s.Circuits(delta) {
		if c.Carry <= 0 {
			return fmt.Errorf("circuit %d→%d from %v to %v: it ends within its reconfiguration delay of %v", c.In, c.Out, c.From,
				c.To, delta)
		}
		carried[c.In][c.Out] += c.Carry
	}
	for i := range m {
		for j, d := range m[i] {
			if carried[i][j] < d {
				return fmt.Errorf("demand %d→%d of %v: %v are carried", i, j, d, carried[i][j])
			}
		}
	}
	return nil
}

// check returns what is wrong with one slot.
func (s *Slot) check(ports int) error {
	if s.Long <= 0 || len(s.Out) != ports {
		return fmt.Errorf("lasts %v and matches %d inputs: take more than 0 and %d", s.Long, len(s.Out), ports)
	}
	by := make([]int, ports) // input + 1, by output
	for in, o := range s.Out {
		switch {
		case o == southbound.NoPort:
		case o < 0 || int(o) >= ports || int(o) == in:
			return fmt.Errorf("circuit %d→%d: outputs are 0 to %d, and not the input's own", in, o, ports-1)
		case by[o] > 0:
			return fmt.Errorf("output %d is lit by inputs %d and %d", o, by[o]-1, in)
		default:
			by[o] = in + 1
		}
	}
	return nil
}

// Cut drops what lies beyond an instant. What is left of a circuit that would not outlive its
// reconfiguration delay goes with it.
func (s *Schedule) Cut(at, delta time.Duration) {
	sum := time.Duration(0)
	for k := range s.Slots {
		if sum+s.Slots[k].Long > at {
			if s.Slots[k].Long = at - sum; s.Slots[k].Long > delta {
				k++
			}
			s.Slots = s.Slots[:k]
			return
		}
		sum += s.Slots[k].Long
	}
}

// sortedValues returns the values of a matrix above zero, ascending, each once.
func (m Matrix) sortedValues() []time.Duration {
	var all []time.Duration
	for i := range m {
		for _, d := range m[i] {
			if d > 0 {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, cmp.Compare[time.Duration])
	return slices.Compact(all)
}
