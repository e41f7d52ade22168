package sunflowsim

import (
	"slices"

	"lightloom/southbound"
)

// match returns a matching of all ports over the pairs of more than a threshold, nil where there is
// none: Hopcroft and Karp's (SIAM J. Comput. 2(4), 1973). Of several it returns that simulator's, which
// looks at inputs from the first and at outputs from the last.
func (m *stuffed) match(threshold int64) []link {
	n := len(m.bits)
	k := matcher{to: make([][]southbound.Port, n), by: slices.Repeat([]southbound.Port{southbound.NoPort}, n),
		done: make([]bool, n), depth: make([]int, n), seen: make([]bool, n)}
	for _, i := range m.in {
		for _, j := range slices.Backward(m.out) {
			if m.bits[i][j] > threshold {
				k.to[i] = append(k.to[i], j)
			}
		}
		if len(k.to[i]) == 0 {
			return nil
		}
	}
	for left := len(m.in); left > 0; {
		k.layers(m.in)
		clear(k.seen)
		found := 0
		for _, i := range m.in {
			if !k.done[i] && k.augment(i) {
				found++
			}
		}
		if left -= found; found == 0 {
			return nil
		}
	}
	var all []link
	for _, j := range m.out {
		all = append(all, link{k.by[j], j})
	}
	slices.SortFunc(all, byLink)
	return all
}

type matcher struct {
	to    [][]southbound.Port // by input: outputs that it can be joined with
	by    []southbound.Port   // by output: its input
	done  []bool              // by input
	depth []int               // by input: steps from one that has no output, -1 where there is no way
	seen  []bool              // by input, in this round
	queue []southbound.Port
}

// layers finds how far each input is from one that has no output.
func (k *matcher) layers(in []southbound.Port) {
	k.queue = k.queue[:0]
	for _, i := range in {
		if k.depth[i] = -1; !k.done[i] {
			k.depth[i] = 0
			k.queue = append(k.queue, i)
		}
	}
	for at := 0; at < len(k.queue); at++ {
		i := k.queue[at]
		for _, j := range k.to[i] {
			if next := k.by[j]; next != southbound.NoPort && k.depth[next] < 0 {
				k.depth[next] = k.depth[i] + 1
				k.queue = append(k.queue, next)
			}
		}
	}
}

// augment finds an output for an input, perhaps from another one that finds a new one.
func (k *matcher) augment(i southbound.Port) bool {
	k.seen[i] = true
	for _, j := range k.to[i] {
		next := k.by[j]
		if next == southbound.NoPort || !k.seen[next] && k.depth[next] == k.depth[i]+1 && k.augment(next) {
			k.by[j], k.done[i] = i, true
			return true
		}
	}
	return false
}
