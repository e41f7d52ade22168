package des

import "math/bits"

// up puts n where it belongs on the way from the hole at i to the root.
func (c *Clock[T]) up(i int, n node) {
	for i > 0 {
		p := (i - 1) / arity
		if !n.before(&c.heap[p]) {
			break
		}
		c.put(i, c.heap[p])
		i = p
	}
	c.put(i, n)
}

// down puts n where it belongs on the way from the hole at i to the leaves.
func (c *Clock[T]) down(i int, n node) {
	for {
		first := arity*i + 1
		if first >= len(c.heap) {
			break
		}
		least := first + leastOf(c.heap[first:min(first+arity, len(c.heap))])
		if !c.heap[least].before(&n) {
			break
		}
		c.put(i, c.heap[least])
		i = least
	}
	c.put(i, n)
}

// leastOf returns which of some nodes comes first. Which of four that is, no processor can guess: so it
// takes no branch.
func leastOf(n []node) int {
	if len(n) == arity {
		a, b := n[1].ahead(&n[0]), 2+n[3].ahead(&n[2])
		return a + (b-a)*n[b].ahead(&n[a])
	}
	least := 0
	for k := range n {
		if n[k].before(&n[least]) {
			least = k
		}
	}
	return least
}

// ahead is before as a number, one or zero: what is borrowed for the difference of two keys. Instants
// in the heap are above zero, since the clock begins there.
func (n *node) ahead(o *node) int {
	_, less := bits.Sub64(n.seq, o.seq, 0)
	_, less = bits.Sub64(uint64(n.at), uint64(o.at), less)
	return int(less)
}

// settle puts n into the hole at i, whichever way it must go.
func (c *Clock[T]) settle(i int, n node) {
	if i > 0 && n.before(&c.heap[(i-1)/arity]) {
		c.up(i, n)
		return
	}
	c.down(i, n)
}

func (c *Clock[T]) put(i int, n node) {
	c.heap[i] = n
	c.slots[n.slot].pos = int32(i)
}

// remove takes the node at i out of the heap.
func (c *Clock[T]) remove(i int) {
	last := len(c.heap) - 1
	moved := c.heap[last]
	c.heap = c.heap[:last]
	if i < last {
		c.settle(i, moved)
	}
}
