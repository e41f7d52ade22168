package topoeng

import (
	"fmt"
)

// Balance gives each pair its circuits as Assign does, but so that each of a number of equal groups of switches,
// such as those behind one spine, has its share of every pair and every pod, rounded up or down: a group that fails
// then takes no more than its share of any pair. Switches of a group have consecutive numbers.
//
// Every pod and every pair can be split evenly at once (de Werra, 1971). Groups take their shares one after the
// other, of what is left an even part: first where circuits stand, and then along alternating paths until all pods
// have their part. The value is how many standing circuits are disturbed; the bound is how many pairs have to lose
// in any balanced topology.
func Balance(want Counts, groups int, standing Topology, rounds int, seed uint64) (Topology, Certificate, error) {
	switches := len(standing.Out)
	if groups < 1 || switches%groups != 0 {
		return Topology{}, Certificate{}, fmt.Errorf("balance circuits over %d groups: %d switches do not make groups of "+
			"one size", groups, switches)
	}
	if _, err := newAssigner(want, standing); err != nil {
		return Topology{}, Certificate{}, err
	}
	size := switches / groups
	parts := make([]Topology, groups)
	for g := range parts {
		parts[g] = Topology{Pods: standing.Pods, Out: standing.Out[g*size : (g+1)*size]}
	}
	shares, bound := share(want, parts)
	out := Topology{Pods: standing.Pods}
	for g, part := range parts {
		t, _, err := Assign(shares[g], part, rounds, seed)
		if err != nil {
			return Topology{}, Certificate{}, fmt.Errorf("balance circuits, group %d: %w", g, err)
		}
		out.Out = append(out.Out, t.Out...)
	}
	return out, certify(float64(standing.Disturbed(out)), float64(bound)), nil
}

// share splits counts evenly over groups, and returns how many standing circuits any such split disturbs.
func share(want Counts, parts []Topology) ([]Counts, int) {
	groups, bound := len(parts), 0
	shares, stands, left := make([]Counts, groups), make([]Counts, groups), NewCounts(len(want))
	for i := range want {
		copy(left[i], want[i])
	}
	for g, part := range parts {
		stands[g] = part.Counts()
		later := Topology{Pods: part.Pods}
		for _, other := range parts[g+1:] {
			later.Out = append(later.Out, other.Out...)
		}
		shares[g] = newPortion(left, stands[g], later.Counts(), groups-g).take()
		for i := range left {
			for j := range left[i] {
				left[i][j] -= shares[g][i][j]
			}
		}
	}
	for i := range want {
		for j, x := range want[i] {
			more := 0 // groups that have more than the lower share
			for g := range stands {
				if over := stands[g][i][j] - x/groups; over > 0 {
					bound += over
					more++
				}
			}
			bound -= min(more, x%groups)
		}
	}
	return shares, bound
}

// portion chooses what one of several groups takes of counts: of a pair and of a pod an even part, rounded up or down.
type portion struct {
	n       int
	here    Counts // circuits that stand in the group
	taken   Counts
	may     [][]bool    // pairs that can take one more than the lower share
	more    [][]bool    // those that do
	fresh   [][]bool    // those of which the groups after this one do not keep all
	sum     [2][]int    // of outputs and of inputs
	bounds  [2][][2]int // least and most of these
	visited [2][]bool
}

func newPortion(left, here, later Counts, groups int) *portion {
	n := len(left)
	d := &portion{n: n, here: here, taken: NewCounts(n), may: make([][]bool, n), more: make([][]bool, n),
		fresh: make([][]bool, n)}
	for side := range 2 {
		d.sum[side], d.bounds[side] = make([]int, n), make([][2]int, n)
		d.visited[side] = make([]bool, n)
	}
	total := [2][]int{make([]int, n), make([]int, n)}
	for i := range left {
		d.may[i], d.more[i], d.fresh[i] = make([]bool, n), make([]bool, n), make([]bool, n)
		for j, x := range left[i] {
			total[0][i] += x
			total[1][j] += x
			d.taken[i][j] = x / groups
			d.sum[0][i] += x / groups
			d.sum[1][j] += x / groups
			d.may[i][j] = x%groups > 0
			d.fresh[i][j] = x-x/groups > later[i][j]
		}
	}
	for side := range 2 {
		for i, x := range total[side] {
			d.bounds[side][i] = [2]int{x / groups, (x + groups - 1) / groups}
		}
	}
	return d
}

// take returns what the group takes, where circuits stand first.
func (d *portion) take() Counts {
	for i := range d.may {
		for j := range d.may[i] {
			if d.may[i][j] && d.stands(i, j) && d.sum[0][i] < d.bounds[0][i][1] &&
				d.sum[1][j] < d.bounds[1][j][1] {
				d.set(i, j, true)
			}
		}
	}
	for side := range 2 {
		for i := range d.n {
			for d.sum[side][i] < d.bounds[side][i][0] {
				clear(d.visited[0])
				clear(d.visited[1])
				if !d.augment(side, i) {
					panic("topoeng: counts cannot be split evenly")
				}
			}
		}
	}
	for i := range d.more {
		for j, more := range d.more[i] {
			if more {
				d.taken[i][j]++
			}
		}
	}
	return d.taken
}

func (d *portion) set(i, j int, more bool) {
	d.more[i][j] = more
	by := 1
	if !more {
		by = -1
	}
	d.sum[0][i] += by
	d.sum[1][j] += by
}

// augment gives an output (side 0) or an input one more pair, a fresh one first. Where the other end has its most
// already, that end gives up another pair, whose first end has more than its least or is given another pair in turn.
func (d *portion) augment(side, i int) bool {
	d.visited[side][i] = true
	for _, fresh := range []bool{true, false} {
		for j := range d.n {
			out, in := i, j
			if side == 1 {
				out, in = j, i
			}
			if !d.may[out][in] || d.more[out][in] || d.fresh[out][in] != fresh || d.visited[1-side][j] {
				continue
			}
			full := d.sum[1-side][j] == d.bounds[1-side][j][1]
			if full {
				d.visited[1-side][j] = true
			}
			if !full || d.release(side, i, j) {
				d.set(out, in, true)
				return true
			}
		}
	}
	return false
}

// release lets an end on the other side give up a pair that is not end i's, one that does not stand here first.
func (d *portion) release(side, i, j int) bool {
	for _, stands := range []bool{false, true} {
		for h := range d.n {
			out, in := h, j
			if side == 1 {
				out, in = j, h
			}
			if h == i || !d.more[out][in] || d.visited[side][h] || d.stands(out, in) != stands {
				continue
			}
			spare := d.sum[side][h] > d.bounds[side][h][0]
			d.set(out, in, false)
			if spare || d.augment(side, h) {
				return true
			}
			d.set(out, in, true)
		}
	}
	return false
}

// stands reports whether one more circuit of a pair is one that stands here.
func (d *portion) stands(i, j int) bool { return d.here[i][j] > d.taken[i][j] }
