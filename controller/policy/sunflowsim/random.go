package sunflowsim

// glibcRandom draws as rand of the GNU C library does: an additive feedback generator, x(n) = x(n−3) +
// x(n−31), whose first 31 values come of a linear congruence of the seed and whose first 310 results
// are dropped.
type glibcRandom struct {
	x [31]uint32
	n int
}

func newGlibcRandom(seed uint32) *glibcRandom {
	g := new(glibcRandom)
	v := int64(seed)
	for i := range g.x {
		g.x[i] = uint32(v)
		v = v * 16807 % (1<<31 - 1)
	}
	g.n = 3 // values 31 to 33 are those of 31 before
	for range 310 {
		g.next()
	}
	return g
}

// next returns the next number from 0 to 2³¹−1.
func (g *glibcRandom) next() uint32 {
	i := g.n % 31
	g.x[i] += g.x[(g.n+28)%31]
	g.n++
	return g.x[i] >> 1
}
