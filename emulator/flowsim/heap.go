package flowsim

// The heap of a class: host flows by (mark, id), four children a node. Each host flow knows its place.
// The first is in the class itself: most have no others.

const arity = 4

func (cs *classes) earlier(a, b int32) bool {
	x, y := cs.hostFlows[a].mark, cs.hostFlows[b].mark
	return x < y || x == y && a < b
}

// member returns the host flow at a place of a class.
func (cs *classes) member(index, i int32) int32 {
	if i == 0 {
		return cs.list[index].first
	}
	return cs.rests[index].heap[i-1]
}

func (cs *classes) set(index, i, b int32) {
	if i == 0 {
		cs.list[index].first = b
	} else {
		cs.rests[index].heap[i-1] = b
	}
	cs.hostFlows[b].pos = i
}

// push adds a host flow whose mark is set.
func (cs *classes) push(index, b int32) {
	c := &cs.list[index]
	if !c.even {
		cs.aside++
	}
	i := c.size
	if c.size++; i > 0 {
		cs.rests[index].heap = append(cs.rests[index].heap, b)
	}
	cs.rise(index, i, b)
}

// drop removes the host flow at a place.
func (cs *classes) drop(index, i int32) {
	c := &cs.list[index]
	if !c.even {
		cs.aside--
	}
	c.size--
	last := c.size
	moved := cs.member(index, last)
	if last > 0 {
		cs.rests[index].heap = cs.rests[index].heap[:last-1]
	}
	switch {
	case i == last:
	case i > 0 && cs.earlier(moved, cs.member(index, (i-1)/arity)):
		cs.rise(index, i, moved)
	default:
		cs.sink(index, i, moved)
	}
}

func (cs *classes) rise(index, i, b int32) {
	for i > 0 {
		up := cs.member(index, (i-1)/arity)
		if !cs.earlier(b, up) {
			break
		}
		cs.set(index, i, up)
		i = (i - 1) / arity
	}
	cs.set(index, i, b)
}

func (cs *classes) sink(index, i, b int32) {
	size, heap := cs.list[index].size, cs.rests[index].heap // which holds all children
	for first := arity*i + 1; first < size; first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, size); k++ {
			if cs.earlier(heap[k-1], heap[least-1]) {
				least = k
			}
		}
		if !cs.earlier(heap[least-1], b) {
			break
		}
		cs.set(index, i, heap[least-1])
		i = least
	}
	cs.set(index, i, b)
}
