package des

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
		least := first
		for k := first + 1; k < min(first+arity, len(c.heap)); k++ {
			if c.heap[k].before(&c.heap[least]) {
				least = k
			}
		}
		if !c.heap[least].before(&n) {
			break
		}
		c.put(i, c.heap[least])
		i = least
	}
	c.put(i, n)
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
