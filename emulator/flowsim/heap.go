package flowsim

// The heap of a class: bundles by (mark, id), four children a node. Each bundle knows its place. The first is in the class
// itself: most have no others.

const arity = 4

func (f *fluid) earlier(a, b int32) bool {
	x, y := f.bundles[a].mark, f.bundles[b].mark
	return x < y || x == y && a < b
}

// member returns the bundle at a place of a class.
func (f *fluid) member(index, i int32) int32 {
	if i == 0 {
		return f.classes[index].first
	}
	return f.rests[index].heap[i-1]
}

func (f *fluid) set(index, i, b int32) {
	if i == 0 {
		f.classes[index].first = b
	} else {
		f.rests[index].heap[i-1] = b
	}
	f.bundles[b].pos = i
}

// push adds a bundle whose mark is set.
func (f *fluid) push(index, b int32) {
	c := &f.classes[index]
	if !c.even {
		f.aside++
	}
	i := c.size
	if c.size++; i > 0 {
		f.rests[index].heap = append(f.rests[index].heap, b)
	}
	f.rise(index, i, b)
}

// drop removes the bundle at a place.
func (f *fluid) drop(index, i int32) {
	c := &f.classes[index]
	if !c.even {
		f.aside--
	}
	c.size--
	last := c.size
	moved := f.member(index, last)
	if last > 0 {
		f.rests[index].heap = f.rests[index].heap[:last-1]
	}
	switch {
	case i == last:
	case i > 0 && f.earlier(moved, f.member(index, (i-1)/arity)):
		f.rise(index, i, moved)
	default:
		f.sink(index, i, moved)
	}
}

func (f *fluid) rise(index, i, b int32) {
	for i > 0 {
		up := f.member(index, (i-1)/arity)
		if !f.earlier(b, up) {
			break
		}
		f.set(index, i, up)
		i = (i - 1) / arity
	}
	f.set(index, i, b)
}

func (f *fluid) sink(index, i, b int32) {
	size, heap := f.classes[index].size, f.rests[index].heap // which holds all children
	for first := arity*i + 1; first < size; first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, size); k++ {
			if f.earlier(heap[k-1], heap[least-1]) {
				least = k
			}
		}
		if !f.earlier(heap[least-1], b) {
			break
		}
		f.set(index, i, heap[least-1])
		i = least
	}
	f.set(index, i, b)
}
