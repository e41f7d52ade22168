// Package sparse is a table by ids that ascend and are given once, of which few are in use at a time.
// It takes memory for those alone, and finds each in two steps.
package sparse

const size = 256 // ids of a page

// Table holds values by id. The zero value is empty.
type Table[T any] struct{ pages []*page[T] }

type page[T any] struct {
	values [size]T
	used   [size]bool
	count  int
}

// Get returns the value of an id from 0. It is borrowed until Drop; nil for none.
func (t *Table[T]) Get(id int) *T {
	if p := id / size; p < len(t.pages) && t.pages[p] != nil && t.pages[p].used[id%size] {
		return &t.pages[p].values[id%size]
	}
	return nil
}

// Make returns the value of an id from 0, which is the zero value if there was none. It is borrowed
// until Drop.
func (t *Table[T]) Make(id int) *T {
	for id/size >= len(t.pages) {
		t.pages = append(t.pages, nil)
	}
	p := t.pages[id/size]
	if p == nil {
		p = new(page[T])
		t.pages[id/size] = p
	}
	if !p.used[id%size] {
		p.used[id%size] = true
		p.count++
	}
	return &p.values[id%size]
}

// Drop forgets an id, and memory with the last of a page.
func (t *Table[T]) Drop(id int) {
	if t.Get(id) == nil {
		return
	}
	p := t.pages[id/size]
	var none T
	p.values[id%size], p.used[id%size] = none, false
	if p.count--; p.count == 0 {
		t.pages[id/size] = nil
	}
}
