package share

// javaRandom is the generator of java.util.Random: 48 bits, linear congruential, as its specification
// has it (Knuth, The Art of Computer Programming, volume 2, section 3.2.1). Rules of a simulator that
// was written for it draw from it.
type javaRandom struct{ seed uint64 }

const (
	javaMultiplier = 0x5DEECE66D
	javaMask       = 1<<48 - 1
)

func newJavaRandom(seed uint64) javaRandom {
	return javaRandom{(seed ^ javaMultiplier) & javaMask}
}

func (r *javaRandom) next(bits uint) uint64 {
	r.seed = (r.seed*javaMultiplier + 0xB) & javaMask
	return r.seed >> (48 - bits)
}

// float returns the next double, in [0, 1).
func (r *javaRandom) float() float64 {
	hi := r.next(26) << 27
	return float64(hi+r.next(27)) / (1 << 53)
}
