package maxmin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// newPairCrowd is a crowd of classes of two links or one: some of a big switch, some of any two links.
func newPairCrowd(r *rand.Rand) *crowd {
	hosts := 2 + r.IntN(40)
	c := &crowd{capacity: make([]float64, 2*hosts), neck: map[int32]int32{}}
	for i := range c.capacity {
		c.capacity[i] = []float64{1e9, 1e9, 1e9, 3e9, 7e8}[r.IntN(5)]
	}
	c.levels = NewLevels(c.capacity)
	c.classes = make([]Class, 1+r.IntN(3*hosts))
	for i := range c.classes {
		c.classes[i].Links = c.two(r)
	}
	return c
}

func (c *crowd) two(r *rand.Rand) []pathmap.LinkID {
	hosts := len(c.capacity) / 2
	switch r.IntN(8) {
	case 0:
		return []pathmap.LinkID{pathmap.LinkID(r.IntN(2 * hosts))}
	case 1:
		p := r.Perm(2 * hosts)
		return []pathmap.LinkID{pathmap.LinkID(p[0]), pathmap.LinkID(p[1])}
	}
	return []pathmap.LinkID{pathmap.LinkID(r.IntN(hosts)), pathmap.LinkID(hosts + r.IntN(hosts))}
}

// TestPairs holds pairs against the solver at each step of many changes, and against an instance that
// has seen nothing but the last of them: levels must be the same to the last place, and no link above
// its capacity by a bit.
func TestPairs(t *testing.T) {
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 32))
		c := newPairCrowd(r)
		var s Solver
		for step := range 30 {
			for range 1 + r.IntN(4) {
				i := r.IntN(len(c.classes))
				k := &c.classes[i]
				switch r.IntN(6) {
				case 0:
					k.Links = c.two(r)
				case 1:
					k.Flows = 0
				case 2:
					k.Flows = float64(1 + r.IntN(1000))
				default:
					k.Flows = float64(max(0, int(k.Flows)+r.IntN(4)-1))
				}
				c.levels.Set(int32(i), k.Links, int32(k.Flows))
			}
			if err := c.check(&s); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if err := c.fresh(); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if !c.levels.CanFollow() {
				t.Fatalf("seed %d step %d: not by pairs", seed, step)
			}
		}
	}
}

// TestPairsFollowed: levels that follow changes are those that the water finds, and are told alike and in the same
// order, whichever way the solution before took.
func TestPairsFollowed(t *testing.T) {
	gaveUp, followed := 0, 0
	for seed := range tries.Of[uint64](600, 4000) {
		r := rand.New(rand.NewPCG(seed, 38))
		capacity := make([]float64, 1+r.IntN(90))
		for l := range capacity {
			capacity[l] = float64(1+r.IntN(4)) * []float64{1, 1, 1e3}[r.IntN(3)]
		}
		follows, rises, both := newPairs(capacity), newPairs(capacity), newPairs(capacity)
		for _, s := range []*pairs{follows, rises, both} {
			s.work = new(int64)
		}
		follows.live = 1 << 40                       // so that no change is too much to follow
		both.live = -linkCost * int64(len(capacity)) // and here some are
		many := []int{8, 8, 1_000_000}[r.IntN(3)]
		for step := range 30 {
			for range 1 + r.IntN(8) {
				class, flows := int32(r.IntN(2*len(capacity))), int32(max(r.IntN(many)-2, 0))
				on := ends(r.Int32N(int32(len(capacity))), r.Int32N(int32(len(capacity))))
				for _, s := range []*pairs{follows, rises, both} {
					s.set(class, on, flows)
				}
			}
			rises.patience.skip, both.patience.skip = 1, r.IntN(2)
			vain := both.patience.vain
			want := pairsTold(follows)
			for _, s := range []*pairs{rises, both} {
				if got := pairsTold(s); !slices.Equal(got, want) {
					t.Fatalf("seed %d step %d: told %v; want %v", seed, step, got, want)
				}
			}
			if now := both.patience.vain; now > vain {
				gaveUp++
			} else if now < vain {
				followed++
			}
			live := int64(0)
			for _, first := range rises.first {
				live += int64(min(first, 1))
			}
			if rises.live != live {
				t.Fatalf("seed %d step %d: %d pairs, want %d", seed, step, rises.live, live)
			}
			for _, s := range []*pairs{follows, rises, both} {
				if err := s.books(follows); err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
			}
		}
	}
	t.Logf("gave up %d times, and followed a change again %d times", gaveUp, followed)
	if gaveUp == 0 || followed == 0 {
		t.Error("no solution gave up, or none followed a change after one that did")
	}
}

// TestRiseTogether: a link is full even where what others have on it grows by more than 64 bits hold before it is
// looked at.
func TestRiseTogether(t *testing.T) {
	for i := range int32(80) {
		n, kind := 2+i/2, [...]func([]float64) *Levels{NewLevels, newLevels}[i%2]
		s := kind(slices.Repeat([]float64{1}, 400)) // so many that the change is followed
		none := func(int32, int32, int32) {}
		for l := range n {
			s.Set(l, ends(l, n), 1)
			s.Set(n+l, ends(l, l), 1_000_000_000)
		}
		s.Solve(none)
		for l := range n {
			s.Set(n+l, nil, 0)
		}
		s.Solve(none)
		if got, want := s.Level(pathmap.LinkID(n)), 1/float64(n); math.Abs(got-want) > 1e-12 || s.Neck(0) != n {
			t.Errorf("%d flows on one link have %v each, held back by %d; want %v", n, got, s.Neck(0), want)
		}
	}
}

// TestGrowTogether: a link is full even where what others have on it, at their levels of before, goes around 64
// bits unseen when their flows become more.
func TestGrowTogether(t *testing.T) {
	const some, many = 4 * 64, 12 * 64 // flows that at that level have a quarter of 64 bits, and three quarters
	grown := []int32{some, many, some, many, many, many, many, some, some, many, some, some, many, some, many, some}
	n := int32(len(grown))
	order := make([]int32, n) // some and many in turns
	f, m := 0, 1
	for l, g := range grown {
		if g == some {
			order[f], f = int32(l), f+2
		} else {
			order[m], m = int32(l), m+2
		}
	}
	for _, kind := range []func([]float64) *Levels{NewLevels, newLevels} {
		s := kind(slices.Repeat([]float64{1}, 400)) // so many that the change is followed
		none := func(int32, int32, int32) {}
		for l := range n {
			s.Set(l, ends(l, n), 1)
			s.Set(n+l, ends(l, l), 63)
		}
		s.Solve(none)
		for _, l := range order {
			s.Set(n+l, nil, 0)
			s.Set(l, ends(l, n), 1+grown[l])
		}
		s.Solve(none)
		if neck := s.Neck(0); neck != n {
			t.Errorf("class 0 is held back by %d, want %d, which has level %v", neck, n, s.Level(16))
		}
	}
}

// TestPatience: solutions that give up are tried less and less often.
func TestPatience(t *testing.T) {
	var p patience
	var tried []int
	for i := range 70 {
		if p.tries() {
			tried = append(tried, i)
			p.after(i == 14)
		}
	}
	if want := []int{0, 2, 6, 14, 15, 17, 21, 29, 45}; !slices.Equal(tried, want) {
		t.Errorf("tried at %v, want %v", tried, want)
	}
}

// pairsTold is toldBy for pairs.
func pairsTold(s *pairs) (told [][3]int32) {
	changed := s.solve(func(class, from, to int32) { told = append(told, [3]int32{class, from, to}) })
	slices.Sort(changed)
	for _, l := range changed {
		told = append(told, [3]int32{int32(l), math.MinInt32, math.MinInt32})
	}
	return told
}

// books holds levels against those of another instance, and what links know of their pairs against a look at all.
func (s *pairs) books(o *pairs) error {
	for l := range int32(s.n) {
		x := &s.links[l]
		left, open, most := x.cap, int64(0), int64(-1)
		for p := range int32(s.n) {
			n := int64(s.flows[int(l)*s.n+int(p)])
			switch neck, _, known := s.neckOf(l, p); {
			case n == 0:
			case !known:
				return fmt.Errorf("links %d and %d share flows without a bottleneck", l, p)
			case neck == l:
				open += n
			default:
				left -= s.links[p].level * n
				most = max(most, s.links[p].level)
			}
		}
		if x.level != o.links[l].level {
			return fmt.Errorf("link %d has level %d and %d", l, x.level, o.links[l].level)
		}
		if x.left != left || x.open != open || open > 0 && x.most < most || x.inHeap || x.refit {
			return fmt.Errorf("link %d knows %+v, want left %d, open %d, most at least %d", l, *x, left, open, most)
		}
	}
	return nil
}

// fresh compares with a new instance, and adds up whole levels.
func (c *crowd) fresh() error {
	n := NewLevels(c.capacity)
	for i, k := range c.classes {
		n.Set(int32(i), k.Links, int32(k.Flows))
	}
	n.Solve(func(class, from, to int32) {})
	sum := make([]int64, len(c.capacity))
	for i, k := range c.classes {
		if a, b := n.Neck(int32(i)), c.levels.Neck(int32(i)); a != b {
			return fmt.Errorf("class %d is held back by %d, in a new instance by %d", i, b, a)
		}
		if neck := n.Neck(int32(i)); neck != none {
			whole, ok := n.Whole(pathmap.LinkID(neck))
			if !ok {
				return fmt.Errorf("link %d holds class %d back and has no level", neck, i)
			}
			for _, l := range k.Links {
				sum[l] += int64(whole) * int64(k.Flows)
			}
		}
	}
	for l := range c.capacity {
		if a, b := n.Level(pathmap.LinkID(l)), c.levels.Level(pathmap.LinkID(l)); a != b {
			return fmt.Errorf("link %d has level %v, in a new instance %v", l, b, a)
		}
		if float64(sum[l]) > c.capacity[l] {
			return fmt.Errorf("link %d of %v is given %d", l, c.capacity[l], sum[l])
		}
	}
	return nil
}

// TestFollow holds Follow against sums over all classes.
func TestFollow(t *testing.T) {
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 33))
		c := newPairCrowd(r)
		told := make([]pathmap.BitsPerSecond, len(c.capacity))
		for step := range 30 {
			for range r.IntN(4) {
				i := r.IntN(len(c.classes))
				c.classes[i].Flows = float64(r.IntN(5))
				if r.IntN(4) == 0 {
					c.classes[i].Links = c.two(r)
				}
				c.levels.Set(int32(i), c.classes[i].Links, int32(c.classes[i].Flows))
			}
			for range r.IntN(6) {
				told[r.IntN(len(told))] = pathmap.BitsPerSecond([]int64{0, 1, 1e8, 1e8, 2e8, 5e8,
					math.MaxInt64}[r.IntN(7)])
			}
			if err := c.follows(told); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
	}
}

func (c *crowd) follows(told []pathmap.BitsPerSecond) error {
	before := make([]float64, len(c.capacity))
	for l := range before {
		before[l] = c.levels.Level(pathmap.LinkID(l))
	}
	changed, fits := c.levels.Follow(told, 1e-6, func(class, from, to int32) {
		if was, ok := c.neck[class]; ok != (from != none) || ok && was != from {
			panic(fmt.Sprintf("class %d moves from %d: it was at %d, %v", class, from, was, ok))
		}
		if delete(c.neck, class); to != none {
			c.neck[class] = to
		}
	})
	sum := make([]float64, len(c.capacity))
	for i, k := range c.classes {
		neck, ok := c.neck[int32(i)]
		if ok != (k.Flows > 0) || ok && c.levels.Neck(int32(i)) != neck {
			return fmt.Errorf("class %d of %v flows has bottleneck %v, told was %d, %v", i, k.Flows,
				c.levels.Neck(int32(i)),
				neck, ok)
		}
		if !ok {
			continue
		}
		least := math.Inf(1)
		for _, l := range k.Links {
			least = min(least, float64(told[l]), 2*c.capacity[l])
		}
		if got := c.levels.Level(pathmap.LinkID(neck)); got != least ||
			!slices.Contains(k.Links, pathmap.LinkID(neck)) {
			return fmt.Errorf("class %d on %v has %v, want %v", i, k.Links, got, least)
		}
		for _, l := range k.Links {
			sum[l] += least * k.Flows
		}
	}
	all := true
	for l := range sum {
		if now := c.levels.Level(pathmap.LinkID(l)); now != before[l] &&
			!slices.Contains(changed, pathmap.LinkID(l)) {
			return fmt.Errorf("link %d went from %v to %v and is not named", l, before[l], now)
		}
		all = all && sum[l] <= c.capacity[l]*(1+1e-6)
	}
	if all != fits {
		return fmt.Errorf("fits: %v, want %v", fits, all)
	}
	return nil
}
