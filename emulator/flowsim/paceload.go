package flowsim

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// manyLinks is from how many links of a fabric on sums are found by adding up again instead of by
// index: an index of all links for each coflow would cost more than it saves.
const manyLinks = 1 << 14

// paceLoads is what the rows on a coflow's pace put on links.
type paceLoads struct {
	Load    []southbound.LinkLoad // per unit of factor
	Stale   bool                  // Load is to be added up again
	Version uint64                // of Load
	where   []int32               // by link: its place in Load, and one; nil on fabrics of many links
}

// Add adds a row that joins the pace (mark above zero), or takes one out that leaves.
func (s *paceLoads) Add(links []pathmap.LinkID, mark float64) {
	if s.Stale || s.where == nil {
		s.Stale = true
		return
	}
	s.Version++
	rows := int32(1)
	if mark < 0 {
		rows = -1
	}
	for _, l := range links {
		i := s.where[l] - 1
		if i < 0 {
			i = int32(len(s.Load))
			s.where[l] = i + 1
			s.Load = append(s.Load, southbound.LinkLoad{Link: l})
		}
		u := &s.Load[i]
		u.Base += mark
		if u.Rows += rows; u.Rows == 0 {
			u.Base = 0 // what rounding has left
		}
	}
}

// Begin starts a new sum on a fabric with the given number of links. It returns an index for Put and
// End: its own, or for many links the shared one, which is all zero between calls.
func (s *paceLoads) Begin(links int, shared *[]int32) (where []int32) {
	s.Stale = false
	s.Version++
	if s.where == nil && links <= manyLinks {
		s.where = make([]int32, links)
	}
	where = s.where
	if where == nil {
		if *shared == nil {
			*shared = make([]int32, links)
		}
		where = *shared
	}
	for _, u := range s.Load {
		where[u.Link] = 0
	}
	s.Load = s.Load[:0]
	return where
}

// Put adds a row.
func (s *paceLoads) Put(where []int32, links []pathmap.LinkID, mark float64) {
	for _, l := range links {
		if where[l] == 0 {
			s.Load = append(s.Load, southbound.LinkLoad{Link: l})
			where[l] = int32(len(s.Load))
		}
		u := &s.Load[where[l]-1]
		u.Base += mark
		u.Rows++
	}
}

// End ends adding up.
func (s *paceLoads) End(where []int32) {
	if s.where != nil {
		return
	}
	for _, u := range s.Load {
		where[u.Link] = 0
	}
}
