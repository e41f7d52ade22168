package topoeng

import (
	"fmt"
)

// none is where an output leads that has no circuit.
const none = -1

// Counts is how many circuits each pair of pods has, [from][to]. It is square, and its diagonal is zero.
type Counts [][]int

// NewCounts returns counts of zero.
func NewCounts(pods int) Counts {
	c := make(Counts, pods)
	cells := make([]int, pods*pods)
	for i := range c {
		c[i], cells = cells[:pods:pods], cells[pods:]
	}
	return c
}

// Topology is the circuits of parallel switches: pod i's output at switch k leads to pod Out[k][i], or nowhere if that
// is below zero.
type Topology struct {
	Pods int
	Out  [][]int32
}

// NewTopology returns switches without circuits.
func NewTopology(pods, switches int) Topology {
	t := Topology{Pods: pods, Out: make([][]int32, switches)}
	cells := make([]int32, pods*switches)
	for i := range cells {
		cells[i] = none
	}
	for k := range t.Out {
		t.Out[k], cells = cells[:pods:pods], cells[pods:]
	}
	return t
}

// Clone returns a copy.
func (t Topology) Clone() Topology {
	c := NewTopology(t.Pods, len(t.Out))
	for k := range t.Out {
		copy(c.Out[k], t.Out[k])
	}
	return c
}

// Counts returns how many circuits each pair has.
func (t Topology) Counts() Counts {
	c := NewCounts(t.Pods)
	for _, out := range t.Out {
		for i, j := range out {
			if j >= 0 {
				c[i][j]++
			}
		}
	}
	return c
}

// Check returns what is wrong with a topology: a pod that is none, a circuit from a pod to itself, an input with two
// circuits of one switch.
func (t Topology) Check() error {
	for k, out := range t.Out {
		if len(out) != t.Pods {
			return fmt.Errorf("switch %d: it has %d outputs for %d pods", k, len(out), t.Pods)
		}
		from := make([]int, t.Pods)
		for i, j := range out {
			switch {
			case j < 0:
			case int(j) >= t.Pods:
				return fmt.Errorf("switch %d, pod %d: there is no pod %d", k, i, j)
			case int(j) == i:
				return fmt.Errorf("switch %d, pod %d: it leads to itself", k, i)
			case from[j] > 0:
				return fmt.Errorf("switch %d, pod %d: pods %d and %d both lead to it", k, j, from[j]-1, i)
			default:
				from[j] = i + 1
			}
		}
	}
	return nil
}

// Disturbed returns how many circuits of a topology another one does not have at the same switch.
func (t Topology) Disturbed(by Topology) int {
	n := 0
	for k, out := range t.Out {
		for i, j := range out {
			if j >= 0 && by.Out[k][i] != j {
				n++
			}
		}
	}
	return n
}

// Certificate says how good an answer is whose value is to be small.
type Certificate struct {
	Value float64
	Bound float64 // what no answer is below
	Exact bool    // the answer is proven to be the best
}

// certify makes a certificate; a value at its bound is proven.
func certify(value, bound float64) Certificate {
	return Certificate{Value: value, Bound: bound, Exact: value <= bound*(1+1e-12)}
}

// Gap returns by how much the value can be above the best, as a share of the bound; 0 for a proven one. A bound of
// zero below another value proves no share: the gap is then the value itself.
func (c Certificate) Gap() float64 {
	switch {
	case c.Exact:
		return 0
	case c.Bound > 0:
		return c.Value/c.Bound - 1
	}
	return c.Value
}

// At returns the certificate of another answer to the same question.
func (c Certificate) At(value float64) Certificate { return certify(value, min(value, c.Bound)) }

// Lost returns how many circuits have to go where each pair is to have so many.
func (t Topology) Lost(want Counts) int {
	n := 0
	for i, row := range t.Counts() {
		for j, stands := range row {
			n += max(0, stands-want[i][j])
		}
	}
	return n
}
