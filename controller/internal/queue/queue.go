// Package queue is a list that elements mostly leave at the front.
package queue

import "slices"

// Queue is such a list: what leaves at the front moves none of the others. The zero value is empty.
type Queue[T any] struct {
	all  []T
	gone int // places at the front that are free
}

// Live returns the elements. Borrowed until the next change.
func (q *Queue[T]) Live() []T { return q.all[q.gone:] }

// Insert puts an element in at a place.
func (q *Queue[T]) Insert(i int, x T) {
	if q.gone > 0 && len(q.all) == cap(q.all) {
		q.all, q.gone = slices.Delete(q.all, 0, q.gone), 0 // before it takes more memory
	}
	i += q.gone
	q.all = append(q.all, x)
	if i < len(q.all)-1 {
		copy(q.all[i+1:], q.all[i:])
		q.all[i] = x
	}
}

// Remove takes the element at a place out.
func (q *Queue[T]) Remove(i int) {
	if i == 0 {
		var none T
		q.all[q.gone] = none
		if q.gone++; q.gone == len(q.all) {
			q.all, q.gone = q.all[:0], 0
		}
		return
	}
	q.all = slices.Delete(q.all, q.gone+i, q.gone+i+1)
}

// Drop removes the elements for which goes is true, and reports whether there were any. It calls goes
// once for each element, in order.
func (q *Queue[T]) Drop(goes func(*T) bool) bool {
	i := q.gone
	for i < len(q.all) && !goes(&q.all[i]) {
		i++
	}
	if i == len(q.all) {
		return false
	}
	kept := q.all[:i]
	for i++; i < len(q.all); i++ {
		if !goes(&q.all[i]) {
			kept = append(kept, q.all[i])
		}
	}
	clear(q.all[len(kept):])
	q.all = kept
	return true
}
