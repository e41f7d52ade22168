package maxmin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// hub is many links with a class each over a common link, and one alone, which go from a few flows to many and back.
type hub struct {
	rng *rand.Rand
	n   int32   // links but for the common one, which has that number
	on  []int32 // flows over both, by link
	own []int32 // flows over one alone, by link; the common one has some, too
}

func newHub(r *rand.Rand) *hub {
	n := 9 + r.Int32N(32)
	return &hub{rng: r, n: n, on: make([]int32, n), own: make([]int32, n+1)}
}

// capacity is alike but for some, so that levels that sum up to multiples of 64 bits are common.
func (h *hub) capacity() []float64 {
	all := slices.Repeat([]float64{1 << 10}, int(h.n)+1)
	for l := range all {
		if h.rng.IntN(8) == 0 {
			all[l] = float64(1 + h.rng.IntN(1<<10))
		}
	}
	return all
}

// change sets many classes at once, in random order, by set.
func (h *hub) change(set func(class int32, links []pathmap.LinkID, flows int32)) {
	r := h.rng
	flows := func() int32 { return []int32{0, 1, 63, 64, 4 * 64, 12 * 64, 1 << 12, 1 << 24}[r.IntN(8)] + r.Int32N(2) }
	alike, own, on := r.IntN(2) == 0, flows(), flows()
	for _, l := range r.Perm(int(h.n)) {
		if !alike {
			own, on = flows(), flows()
		}
		l := int32(l)
		if r.IntN(8) > 0 && own != h.own[l] {
			h.own[l] = own
			set(h.n+l, ends(l, l), own)
		}
		if r.IntN(8) > 0 && on != h.on[l] {
			h.on[l] = on
			set(l, ends(l, h.n), on)
		}
	}
	if r.IntN(2) == 0 {
		set(2*h.n, ends(h.n, h.n), r.Int32N(2))
	}
}

// TestBeyondSums: levels that follow changes are those from the ground up, even where what links hear on the way goes
// around 64 bits, and no matter whether they are bottlenecks or have plenty left.
func TestBeyondSums(t *testing.T) {
	for seed := range tries.Of[uint64](600, 6000) {
		r := rand.New(rand.NewPCG(seed, 47))
		h := newHub(r)
		capacity := h.capacity()
		follows, refills := newLevels(capacity), newLevels(capacity)
		follows.seats = 1 << 40 // so that no change is too much to follow
		pairs, rises := newPairs(capacity), newPairs(capacity)
		pairs.work, rises.work = new(int64), new(int64)
		pairs.live = 1 << 40
		for step := range 12 {
			h.change(func(class int32, links []pathmap.LinkID, flows int32) {
				follows.Set(class, links, flows)
				refills.Set(class, links, flows)
				pairs.set(class, links, flows)
				rises.set(class, links, flows)
			})
			refills.ground.patience.skip, rises.patience.skip = 1, 1
			if got, want := toldBy(follows), toldBy(refills); !slices.Equal(got, want) ||
				!slices.Equal(follows.level, refills.level) || !slices.Equal(follows.necks, refills.necks) {
				t.Fatalf("seed %d step %d: levels %v, bottlenecks %v; want %v, %v", seed, step, follows.level, follows.necks,
					refills.level, refills.necks)
			}
			if err := follows.books(); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if got, want := pairsTold(pairs), pairsTold(rises); !slices.Equal(got, want) {
				t.Fatalf("seed %d step %d: pairs told %v; want %v", seed, step, got, want)
			}
			if err := pairs.books(rises); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
	}
}

// TestLeaveTogether: a link is full even where classes that it held back get so many flows that their other links hold
// them back until it is looked at again, and what these have by then is more than 64 bits hold.
func TestLeaveTogether(t *testing.T) {
	for n := int32(3); n < 40; n++ {
		for _, kind := range []func([]float64) *Levels{NewLevels, newLevels} {
			s := kind(slices.Repeat([]float64{1}, 400)) // so many that the change is followed
			none := func(int32, int32, int32) {}
			for _, flows := range []int32{1, 1 << 24} {
				for l := range n {
					s.Set(l, ends(l, n), flows)
					s.Set(n+l, ends(l, l), 1) // so that the other link is no later to be looked at
				}
				s.Solve(none)
				if neck := s.Neck(0); neck != n {
					t.Errorf("%d classes of %d flows are held back by %d, want %d", n, flows, neck, n)
				}
			}
		}
	}
}

// TestGrowTogetherInLists is TestGrowTogether in the order in which lists look at links. Such orders are rare: 5 of
// 200,000 at random.
func TestGrowTogetherInLists(t *testing.T) {
	for _, grown := range [][][2]int32{
		{{7, 4}, {1, 8}, {2, 8}, {3, 8}, {5, 4}, {6, 12}, {0, 4}, {8, 12}, {4, 4}},
		{{3, 12}, {8, 8}, {0, 8}, {6, 8}, {7, 12}, {5, 12}, {4, 4}, {2, 12}, {1, 8}},
	} {
		n := int32(len(grown))
		s := newLevels(slices.Repeat([]float64{1}, 60))
		s.seats = 1 << 40 // so that the change is followed
		none := func(int32, int32, int32) {}
		for l := range n {
			s.Set(l, ends(l, n), 1)
			s.Set(n+l, ends(l, l), 63)
		}
		s.Solve(none)
		for _, g := range grown { // to so many sixteenths of 64 bits, at the level so far
			s.Set(n+g[0], nil, 0)
			s.Set(g[0], ends(g[0], n), 1+64*g[1])
		}
		s.Solve(none)
		if neck := s.Neck(0); neck != n {
			t.Errorf("class 0 is held back by %d, want %d", neck, n)
		}
		if err := s.books(); err != nil {
			t.Error(err)
		}
	}
}
