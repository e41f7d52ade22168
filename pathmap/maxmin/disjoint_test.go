package maxmin

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
)

// circuits applies the same changes twice: to plain levels, and to levels in which two more classes
// that share a link change each time, so that apart is never true.
type circuits struct {
	n        int
	flows    map[int32]int32
	one, two *Levels
	beat     int32
}

func newCircuits(r *rand.Rand) *circuits {
	c := &circuits{n: 2 + r.IntN(6), flows: map[int32]int32{}}
	var capacity []float64
	for range 4 * c.n {
		capacity = append(capacity, float64(1+r.IntN(3))*1e9)
	}
	c.one, c.two = newLevels(capacity), newLevels(append(slices.Clone(capacity), 1e18))
	return c
}

// change changes the number of flows of one class from an input to an output, mostly of a class that is
// alone there.
func (c *circuits) change(r *rand.Rand) {
	i, j := r.IntN(c.n), r.IntN(c.n)
	class, want := int32(i*c.n+j), int32(r.IntN(3))
	for at := range int32(c.n * c.n) {
		if at != class && c.flows[at] > 0 && (int(at)/c.n == i || int(at)%c.n == j) && r.IntN(8) > 0 {
			c.set(at, 0)
		}
	}
	c.set(class, want)
}

func (c *circuits) set(class, flows int32) {
	i, j := int(class)/c.n, int(class)%c.n
	on := links(pathmap.LinkID(i), pathmap.LinkID(c.n+i), pathmap.LinkID(2*c.n+j), pathmap.LinkID(3*c.n+j))
	c.flows[class] = flows
	c.one.Set(class, on, flows)
	c.two.Set(class, on, flows)
}

// solve brings both up to date, and compares everything that they say, and the order in which they say it.
func (c *circuits) solve() (apart bool, err error) {
	extra := int32(c.n * c.n)
	c.beat++
	c.two.Set(extra, links(pathmap.LinkID(4*c.n)), 1+c.beat%2)
	c.two.Set(extra+1, links(pathmap.LinkID(4*c.n)), 1+c.beat%3)
	var one, two []string
	seen := c.one.work
	a := slices.Clone(c.one.Solve(func(class, from, to int32) {
		one = append(one, fmt.Sprint(class, from, to))
	}))
	b := slices.Clone(c.two.Solve(func(class, from, to int32) {
		if class < extra {
			two = append(two, fmt.Sprint(class, from, to))
		}
	}))
	b = slices.DeleteFunc(b, func(l pathmap.LinkID) bool { return int(l) == 4*c.n })
	if !slices.Equal(a, b) {
		return false, fmt.Errorf("links %v changed, want %v", a, b)
	}
	if !slices.Equal(one, two) {
		return false, fmt.Errorf("moved %v, want %v", one, two)
	}
	for l := range 4 * c.n {
		if got, want := c.one.Level(pathmap.LinkID(l)), c.two.Level(pathmap.LinkID(l)); got != want {
			return false, fmt.Errorf("link %d at %v, want %v", l, got, want)
		}
	}
	for i := range extra {
		if got, want := c.one.Neck(i), c.two.Neck(i); got != want {
			return false, fmt.Errorf("class %d has bottleneck %d, want %d", i, got, want)
		}
	}
	shared := func(l int32) bool { return len(c.one.on[l]) > 1 }
	return c.one.work > seen && !slices.ContainsFunc(c.one.queue, shared), nil
}

// TestApart holds classes that are by themselves against the same among others: to the last digit, and
// in the same order.
func TestApart(t *testing.T) {
	quick, slow := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 32))
		c := newCircuits(r)
		for step := range 40 {
			for range 1 + r.IntN(3) {
				c.change(r)
			}
			apart, err := c.solve()
			if err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if apart {
				quick++
			} else {
				slow++
			}
		}
	}
	if quick < 10000 || slow < 10000 {
		t.Errorf("%d steps had only classes that are apart, %d others", quick, slow)
	}
}
