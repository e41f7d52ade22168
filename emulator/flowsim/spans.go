package flowsim

import (
	"cmp"
	"slices"
)

// span is places that follow each other, [First, End).
type span struct{ First, End int32 }

// spans are free places, ascending and apart from each other. A run of many coflows needs no more
// places than are taken at once.
type spans []span

// Give adds places, and joins them to those that they touch.
func (s *spans) Give(p span) {
	if p.First == p.End {
		return
	}
	i, _ := slices.BinarySearchFunc(*s, p.First,
		func(a span, first int32) int { return cmp.Compare(a.First, first) })
	if i < len(*s) && (*s)[i].First == p.End {
		p.End = (*s)[i].End
		*s = slices.Delete(*s, i, i+1)
	}
	if i > 0 && (*s)[i-1].End == p.First {
		(*s)[i-1].End = p.End
		return
	}
	*s = slices.Insert(*s, i, p)
}

// Take returns the first of n free places that follow each other, false where there are none.
func (s *spans) Take(n int32) (int32, bool) {
	for i := range *s {
		p := &(*s)[i]
		if p.End-p.First < n {
			continue
		}
		first := p.First
		if p.First += n; p.First == p.End {
			*s = slices.Delete(*s, i, i+1)
		}
		return first, true
	}
	return 0, false
}
