package topoeng

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Assign gives each pair its circuits, each on a switch of its own port, so that few of the standing circuits are
// disturbed: a standing circuit is, where its switch does not have it afterwards. Its value is how many are; the
// bound is how many pairs have to lose whatever happens.
//
// Switches are dealt a matching each, one after the other, which keeps most of what stands; serving every pod that
// needs all switches that are left keeps the rest possible (König, 1916). Then rounds, drawn from the seed, exchange
// between two switches what is joined by common ports, and deal a few switches anew, where that disturbs no more
// than before; on small instances also where it does, as annealing has it. It ends at the bound, or when the rounds
// are used up.
func Assign(want Counts, standing Topology, rounds int, seed uint64) (Topology, Certificate, error) {
	a, err := newAssigner(want, standing)
	if err != nil {
		return Topology{}, Certificate{}, err
	}
	a.dealAll()
	for a.improve() > 0 {
	}
	best, fewest, bound := a.out.Clone(), standing.Disturbed(a.out), standing.Lost(want)
	rng := rand.New(rand.NewPCG(seed, 0x746f706f)) // "topo"
	for round := range rounds {
		if fewest == bound {
			break
		}
		if a.small() {
			a.anneal(rng, hottest*float64(rounds-round)/float64(rounds))
		}
		a.recombine(rng, 2+rng.IntN(mostDealt-1))
		for a.improve() > 0 {
		}
		if n := standing.Disturbed(a.out); n < fewest {
			best, fewest = a.out.Clone(), n
		}
	}
	return best, certify(float64(fewest), float64(bound)), nil
}

// mostDealt is how many switches are dealt anew at once.
const mostDealt = 6

// assigner has circuits on switches, by output and by input.
type assigner struct {
	standing Topology
	out      Topology
	in       [][]int32 // by switch: which pod's output leads to a pod
	want     Counts
	seen     []bool // of walks, by pod
}

func newAssigner(want Counts, standing Topology) (*assigner, error) {
	n, switches := standing.Pods, len(standing.Out)
	if len(want) != n {
		return nil, fmt.Errorf("assign circuits: counts of %d pods for a topology of %d", len(want), n)
	}
	if err := standing.Check(); err != nil {
		return nil, fmt.Errorf("assign circuits beside those that stand: %w", err)
	}
	cols := make([]int, n)
	for i := range want {
		row := 0
		for j, x := range want[i] {
			if x < 0 || i == j && x > 0 {
				return nil, fmt.Errorf("assign circuits: pod %d cannot have %d to pod %d", i, x, j)
			}
			row += x
			cols[j] += x
		}
		if row > switches {
			return nil, fmt.Errorf("assign circuits: pod %d is to have %d, and %d switches give it one each", i, row, switches)
		}
	}
	for j, col := range cols {
		if col > switches {
			return nil, fmt.Errorf("assign circuits: %d are to lead to pod %d, and %d switches give it one each", col, j,
				switches)
		}
	}
	a := &assigner{standing: standing, out: NewTopology(n, switches), want: want, seen: make([]bool, n)}
	a.in = NewTopology(n, switches).Out
	return a, nil
}

func (a *assigner) set(k int, i, j int32) { a.out.Out[k][i], a.in[k][j] = j, i }

func (a *assigner) clear(k int, i, j int32) { a.out.Out[k][i], a.in[k][j] = none, none }

// dealAll deals all circuits out to all switches.
func (a *assigner) dealAll() {
	left, all := NewCounts(len(a.want)), make([]int, len(a.standing.Out))
	for i := range a.want {
		copy(left[i], a.want[i])
	}
	for k := range all {
		all[k] = k
	}
	a.rebuild(left, all)
}

// stays is 1 where a circuit stands.
func (a *assigner) stays(k int, i, j int32) int {
	if a.standing.Out[k][i] == j {
		return 1
	}
	return 0
}

// walk visits the circuits of switches k and l that are joined to a pod's output by common ports: from and to are the
// switch that a circuit is on and the other one. A path is walked from the output both ways, a ring once.
func (a *assigner) walk(k, l int, i int32, do func(from, to int, i, j int32)) {
	ring := a.half(k, l, i, do)
	if !ring {
		a.half(l, k, i, do)
	}
}

// half walks from output i, which it leaves on switch k, and reports whether it came back to it.
func (a *assigner) half(k, l int, start int32, do func(from, to int, i, j int32)) (ring bool) {
	i := start
	for {
		j := a.out.Out[k][i]
		if j < 0 {
			return false
		}
		do(k, l, i, j)
		next := a.in[l][j]
		if next < 0 {
			return false
		}
		do(l, k, next, j)
		if next == start {
			return true
		}
		i = next
	}
}

// exchange moves the circuits that are joined to a pod's output from each of two switches to the other.
func (a *assigner) exchange(k, l int, i int32) {
	type circuit struct {
		to   int
		i, j int32
	}
	var moved []circuit
	a.walk(k, l, i, func(from, to int, i, j int32) { moved = append(moved, circuit{to, i, j}) })
	for _, m := range moved {
		a.clear(k+l-m.to, m.i, m.j)
	}
	for _, m := range moved {
		a.set(m.to, m.i, m.j)
	}
}

// improve exchanges circuits between any two switches where that brings standing circuits back, and returns how many.
func (a *assigner) improve() (gained int) {
	for k := range a.out.Out {
		for l := range k {
			gained += a.pair(k, l, func(cost int) bool { return cost < 0 })
		}
	}
	return gained
}

// pair exchanges each set of joined circuits of two switches for which its cost is worth it, and returns what was
// gained.
func (a *assigner) pair(k, l int, worth func(cost int) bool) (gained int) {
	clear(a.seen)
	for i := range int32(len(a.seen)) {
		if a.seen[i] {
			continue
		}
		cost := 0
		a.walk(k, l, i, func(from, to int, i, j int32) {
			a.seen[i] = true
			cost += a.stays(from, i, j) - a.stays(to, i, j)
		})
		a.seen[i] = true
		if worth(cost) {
			a.exchange(k, l, i)
			gained -= cost
		}
	}
	return gained
}

// small tells whether annealing reaches somewhere: on larger instances, whose paths are long, it does not.
func (a *assigner) small() bool { return len(a.seen)*len(a.out.Out) <= 1024 }

// hottest is the temperature of the first round of annealing, in circuits disturbed.
const hottest = 0.6

// anneal exchanges circuits of two random switches that are joined to a random pod's output, one try for each output
// of each switch.
func (a *assigner) anneal(rng *rand.Rand, temperature float64) {
	n, switches := len(a.seen), len(a.out.Out)
	if switches < 2 {
		return
	}
	for range n * switches {
		k, l, i := rng.IntN(switches), rng.IntN(switches-1), int32(rng.IntN(n))
		if l >= k {
			l++
		}
		cost := 0
		a.walk(k, l, i, func(from, to int, i, j int32) { cost += a.stays(from, i, j) - a.stays(to, i, j) })
		if cost <= 0 || rng.Float64() < math.Exp(-float64(cost)/temperature) {
			a.exchange(k, l, i)
		}
	}
}
