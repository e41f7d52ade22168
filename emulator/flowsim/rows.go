package flowsim

import (
	"cmp"
	"slices"
)

// rowSpan is places of bundles that follow each other, [first, end).
type rowSpan struct{ first, end int32 }

// rowSpans are the places whose coflows are over, ascending and apart from each other. A run of many coflows needs no
// more places than are taken at once.
type rowSpans []rowSpan

// give adds places, and joins them to those that they touch.
func (s *rowSpans) give(p rowSpan) {
	if p.first == p.end {
		return
	}
	i, _ := slices.BinarySearchFunc(*s, p.first, func(a rowSpan, first int32) int { return cmp.Compare(a.first, first) })
	if i < len(*s) && (*s)[i].first == p.end {
		p.end = (*s)[i].end
		*s = slices.Delete(*s, i, i+1)
	}
	if i > 0 && (*s)[i-1].end == p.first {
		(*s)[i-1].end = p.end
		return
	}
	*s = slices.Insert(*s, i, p)
}

// take returns the first of n free places that follow each other, false where there are none.
func (s *rowSpans) take(n int32) (int32, bool) {
	for i := range *s {
		p := &(*s)[i]
		if p.end-p.first < n {
			continue
		}
		first := p.first
		if p.first += n; p.first == p.end {
			*s = slices.Delete(*s, i, i+1)
		}
		return first, true
	}
	return 0, false
}

// makeRows returns places for n bundles of a new coflow.
func (f *fluid) makeRows(n int32) (first int32) {
	for _, i := range f.over {
		co := &f.coflows[i]
		f.spare.give(rowSpan{co.first, co.end})
		co.first, co.end = 0, 0
	}
	f.over = f.over[:0]
	if first, ok := f.spare.take(n); ok {
		return first
	}
	first = int32(len(f.bundles))
	f.bundles = append(f.bundles, make([]bundle, n)...)
	f.parts = append(f.parts, make([]float64, n)...)
	return first
}
