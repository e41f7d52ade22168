package schedule

import (
	"time"

	"lightloom/southbound"
)

// heaviest returns the matching of the largest sum of weights; pairs without weight are not in it.
func heaviest(m Matrix, weight func(time.Duration) time.Duration) (out []southbound.Port,
	sum time.Duration) {
	n := len(m)
	w := make([]int64, n*n)
	for i := range m {
		for j, d := range m[i] {
			w[i*n+j] = int64(weight(d))
		}
	}
	out = make([]southbound.Port, n)
	for i, j := range Assign(w, n) {
		out[i] = southbound.NoPort
		if x := w[i*n+int(j)]; x > 0 {
			out[i] = southbound.Port(j)
			sum += time.Duration(x)
		}
	}
	return out, sum
}

// Perfect finds a matching that gives every input an output over the pairs that can be joined, false if
// there is none: augmenting paths, one depth-first search an input. match is by input, -1 for none;
// what it holds on entry is kept where it can be joined still, so that asking again after a small
// change is cheap.
func Perfect(n int, may func(in, out int) bool, match []int32) bool {
	k := kuhn{n: n, may: may, match: match, by: fill(n, -1), seen: make([]int, n)}
	for i, j := range match {
		if j < 0 || !may(i, int(j)) || k.by[j] >= 0 {
			match[i] = -1
			continue
		}
		k.by[j] = int32(i)
	}
	for i := range n {
		if match[i] >= 0 {
			continue
		}
		k.round++
		if !k.find(i) {
			return false
		}
	}
	return true
}

type kuhn struct {
	n     int
	may   func(in, out int) bool
	match []int32
	by    []int32 // input, by output
	seen  []int   // round in which an output was last tried
	round int
}

func (k *kuhn) find(i int) bool {
	for j := range k.n {
		if k.by[j] < 0 && k.may(i, j) {
			k.by[j], k.match[i] = int32(i), int32(j)
			return true
		}
	}
	for j := range k.n {
		if k.seen[j] == k.round || !k.may(i, j) {
			continue
		}
		k.seen[j] = k.round
		if k.find(int(k.by[j])) {
			k.by[j], k.match[i] = int32(i), int32(j)
			return true
		}
	}
	return false
}

// stuff adds dummy demand until every row and column sums to the largest sum, first to pairs that have
// demand already (Solstice's QuickStuff), then to any. The diagonal can be stuffed: a port that faces
// itself is idle.
func stuff(m Matrix) Matrix {
	s := m.Clone()
	rows, cols := m.Sums()
	most := m.Largest()
	for _, only := range [2]bool{true, false} {
		for i := range s {
			for j := range s[i] {
				if only && m[i][j] == 0 {
					continue
				}
				add := min(most-rows[i], most-cols[j])
				s[i][j] += add
				rows[i] += add
				cols[j] += add
			}
		}
	}
	return s
}

// real returns a perfect matching as a slot's, without the pairs that have no demand left.
func real(match []int32, left Matrix) []southbound.Port {
	out := make([]southbound.Port, len(match))
	for i, j := range match {
		out[i] = southbound.NoPort
		if left[i][j] > 0 {
			out[i] = southbound.Port(j)
		}
	}
	return out
}

// serve takes what a slot carries out of what is left.
func serve(left Matrix, out []southbound.Port, carry time.Duration) {
	for i, j := range out {
		if j != southbound.NoPort {
			left[i][j] = max(left[i][j]-carry, 0)
		}
	}
}
