package maxmin

// heap is a 4-ary heap of what the rising water meets next: the smallest key first, then the smallest id.
type heap[K int64 | float64] struct{ items []item[K] }

// item is a level at which a class (its index) or a link (after all classes) may be settled.
type item[K int64 | float64] struct {
	key K
	id  int32
}

func (a item[K]) before(b item[K]) bool { return a.key < b.key || a.key == b.key && a.id < b.id }

// ahead is before as a number, one or zero, without a branch.
func (a *item[K]) ahead(b *item[K]) int {
	return number(a.key < b.key) | number(a.key == b.key)&number(a.id < b.id)
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// leastOf returns which of some items comes first. Which of four that is, no processor can guess.
func leastOf[K int64 | float64](n []item[K]) int {
	if len(n) == 4 {
		a, b := n[1].ahead(&n[0]), 2+n[3].ahead(&n[2])
		return a + (b-a)*n[b].ahead(&n[a])
	}
	least := 0
	for k := range n {
		if n[k].before(n[least]) {
			least = k
		}
	}
	return least
}

func (h *heap[K]) build() {
	for i := (len(h.items) - 2) / 4; i >= 0; i-- {
		h.down(i)
	}
}

func (h *heap[K]) push(it item[K]) {
	i := len(h.items)
	h.items = append(h.items, it)
	for i > 0 && it.before(h.items[(i-1)/4]) {
		h.items[i] = h.items[(i-1)/4]
		i = (i - 1) / 4
	}
	h.items[i] = it
}

func (h *heap[K]) pop() {
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.down(0)
}

// raise gives the first item a larger key.
func (h *heap[K]) raise(key K) {
	h.items[0].key = key
	h.down(0)
}

func (h *heap[K]) down(i int) {
	if i >= len(h.items) {
		return
	}
	it := h.items[i]
	for {
		first := 4*i + 1
		if first >= len(h.items) {
			break
		}
		least := first + leastOf(h.items[first:min(first+4, len(h.items))])
		if !h.items[least].before(it) {
			break
		}
		h.items[i] = h.items[least]
		i = least
	}
	h.items[i] = it
}
