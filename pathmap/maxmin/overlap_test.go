package maxmin

import (
	"math/rand/v2"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// TestOverlaps: levels are the solver's where links hold back so many classes that they count what they have in
// common with others, also while these come, grow, shrink, move and go, and whether changes are followed or not.
func TestOverlaps(t *testing.T) {
	counted := 0
	for seed := range tries.Of[uint64](40, 400) {
		r := rand.New(rand.NewPCG(seed, 58))
		c := newCrowd(r)
		c.capacity = make([]float64, 6+r.IntN(30))
		for i := range c.capacity {
			c.capacity[i] = float64(1+r.IntN(4)) * 1e9 * float64(1+99*r.IntN(2)) // some have plenty
		}
		c.levels = newLevels(c.capacity)
		c.classes = make([]Class, 100+r.IntN(400))
		for i := range c.classes {
			c.classes[i].Links = c.some(r)
			if r.IntN(2) == 0 {
				c.classes[i].Flows = float64(1 + r.IntN(9))
				c.levels.Set(int32(i), c.classes[i].Links, int32(c.classes[i].Flows))
			}
		}
		var s Solver
		for step := range 60 {
			if step == 30 {
				c.thin()
			}
			c.change(r)
			c.levels.ground.patience.skip *= r.IntN(2)
			if err := c.check(&s); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if err := c.levels.books(); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			counted += c.levels.crowded
		}
	}
	if counted == 0 {
		t.Error("no link holds back that many")
	}
}

// thin removes most classes.
func (c *crowd) thin() {
	for i := range c.classes {
		if k := &c.classes[i]; i%8 > 0 && k.Flows > 0 {
			k.Flows = 0
			c.levels.Set(int32(i), []pathmap.LinkID{0}, 0)
		}
	}
}
