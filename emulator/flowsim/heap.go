package flowsim

// The heap of a class: bundles by (mark, id), four children a node. Each bundle knows its place.

const arity = 4

func (f *fluid) earlier(a, b int32) bool {
	return f.mark[a] < f.mark[b] || f.mark[a] == f.mark[b] && a < b
}

func (f *fluid) set(c *class, i int, b int32) {
	c.heap[i] = b
	f.bundles[b].pos = int32(i)
}

// push adds a bundle whose mark is set.
func (f *fluid) push(c *class, b int32) {
	if !c.even {
		f.aside++
	}
	c.heap = append(c.heap, b)
	f.rise(c, len(c.heap)-1, b)
}

// drop removes the bundle at a place.
func (f *fluid) drop(c *class, pos int32) {
	if !c.even {
		f.aside--
	}
	i, last := int(pos), len(c.heap)-1
	moved := c.heap[last]
	c.heap = c.heap[:last]
	switch {
	case i == last:
	case i > 0 && f.earlier(moved, c.heap[(i-1)/arity]):
		f.rise(c, i, moved)
	default:
		f.sink(c, i, moved)
	}
}

func (f *fluid) rise(c *class, i int, b int32) {
	for i > 0 && f.earlier(b, c.heap[(i-1)/arity]) {
		f.set(c, i, c.heap[(i-1)/arity])
		i = (i - 1) / arity
	}
	f.set(c, i, b)
}

func (f *fluid) sink(c *class, i int, b int32) {
	for first := arity*i + 1; first < len(c.heap); first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, len(c.heap)); k++ {
			if f.earlier(c.heap[k], c.heap[least]) {
				least = k
			}
		}
		if !f.earlier(c.heap[least], b) {
			break
		}
		f.set(c, i, c.heap[least])
		i = least
	}
	f.set(c, i, b)
}
