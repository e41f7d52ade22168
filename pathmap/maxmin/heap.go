package maxmin

// heap is a 4-ary heap of what the rising water meets next: the smallest key first, then the smallest id.
type heap[K int64 | float64] struct{ items []item[K] }

// item is a level at which a class (its index) or a link (after all classes) may be settled.
type item[K int64 | float64] struct {
	key K
	id  int32
}

func (a item[K]) before(b item[K]) bool { return a.key < b.key || a.key == b.key && a.id < b.id }

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
		least := first
		for c := first + 1; c < min(first+4, len(h.items)); c++ {
			if h.items[c].before(h.items[least]) {
				least = c
			}
		}
		if !h.items[least].before(it) {
			break
		}
		h.items[i] = h.items[least]
		i = least
	}
	h.items[i] = it
}
