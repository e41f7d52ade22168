package online

import (
	"math"
	"slices"
)

// Noise is bandwidth that others take of links for a while. It is cut to what is not allocated when it
// begins.
type Noise struct {
	At, For, Rate float64
	Links         []int32
}

// sending is a flow under way. Its base rate is allocated; its rate may be another until the next
// scheduling.
type sending struct {
	flow       int
	left       float64
	path       []int32
	base, rate float64
}

// medium is the network with what it carries.
type medium struct {
	capacity []float64 // beside noise
	noise    []Noise   // by beginning; those begun have their cut rate
	begun    int
	until    []int // begun noise, by end
	now      float64
	flows    []sending
}

func newMedium(capacity []float64, noise []Noise) *medium {
	return &medium{capacity: slices.Clone(capacity), noise: slices.Clone(noise)}
}

// next is when noise changes or a flow ends.
func (m *medium) next() float64 {
	at := math.Inf(1)
	if m.begun < len(m.noise) {
		at = m.noise[m.begun].At
	}
	for _, i := range m.until {
		at = min(at, m.noise[i].At+m.noise[i].For)
	}
	for i := range m.flows {
		if f := &m.flows[i]; f.rate > 0 {
			at = min(at, m.now+f.left/f.rate)
		}
	}
	return at
}

// advance sends until an instant, and returns the flows that have ended.
func (m *medium) advance(at float64, volume func(flow int) float64) (ended []int) {
	took := at - m.now
	m.now = at
	kept := m.flows[:0]
	for _, f := range m.flows {
		if f.left -= took * f.rate; f.left > 1e-9*volume(f.flow) {
			kept = append(kept, f)
		} else {
			ended = append(ended, f.flow)
		}
	}
	m.flows = kept
	m.until = slices.DeleteFunc(m.until, func(i int) bool {
		n := &m.noise[i]
		if n.At+n.For > m.now {
			return false
		}
		for _, l := range n.Links {
			m.capacity[l] += n.Rate
		}
		return true
	})
	for ; m.begun < len(m.noise) && m.noise[m.begun].At <= m.now; m.begun++ {
		m.begin(m.begun)
	}
	return ended
}

// begin cuts noise to what is left and takes it.
func (m *medium) begin(i int) {
	n := &m.noise[i]
	left := m.left(func(f *sending) float64 { return max(f.base, f.rate) })
	for _, l := range n.Links {
		n.Rate = min(n.Rate, left[l])
	}
	for _, l := range n.Links {
		m.capacity[l] -= n.Rate
	}
	m.until = append(m.until, i)
}

// left is what links have beside what flows take.
func (m *medium) left(takes func(*sending) float64) []float64 {
	out := slices.Clone(m.capacity)
	for i := range m.flows {
		f := &m.flows[i]
		r := takes(f)
		for _, l := range f.path {
			out[l] -= r
		}
	}
	for l := range out {
		if out[l] < 1e-9*m.capacity[l] {
			out[l] = 0
		}
	}
	return out
}

func base(f *sending) float64    { return f.base }
func current(f *sending) float64 { return f.rate }
