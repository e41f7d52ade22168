package light

import "time"

// release is an instant at which a port may become free.
type release struct {
	at   time.Duration
	port int
}

// releases is a heap by (at, port), four children a node.
type releases struct{ heap []release }

func (r *releases) len() int       { return len(r.heap) }
func (r *releases) first() release { return r.heap[0] }

func (x release) before(y release) bool { return x.at < y.at || x.at == y.at && x.port < y.port }

func (r *releases) push(x release) {
	r.heap = append(r.heap, x)
	h, i := r.heap, len(r.heap)-1
	for i > 0 && x.before(h[(i-1)/4]) {
		h[i] = h[(i-1)/4]
		i = (i - 1) / 4
	}
	h[i] = x
}

func (r *releases) pop() release {
	top, last := r.heap[0], len(r.heap)-1
	x, h := r.heap[last], r.heap[:last]
	r.heap = h
	if last == 0 {
		return top
	}
	i := 0
	for first := 1; first < last; first = 4*i + 1 {
		least, c := h[first], first
		for k := first + 1; k < min(first+4, last); k++ {
			if h[k].before(least) {
				least, c = h[k], k
			}
		}
		if !least.before(x) {
			break
		}
		h[i], i = least, c
	}
	h[i] = x
	return top
}
