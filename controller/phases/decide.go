package phases

import (
	"errors"
	"math"
	"slices"
	"time"

	"lightloom/controller/topoeng"
)

// Plan says which circuits each phase of an iteration has, and how long an iteration takes when it repeats.
type Plan struct {
	Circuits []int         // by phase: one of the topologies that there are to choose from
	Moves    int           // phases of an iteration that begin with a move
	Time     time.Duration // of an iteration
	Once     time.Duration // of an iteration with the best circuits that are set once
	Bound    time.Duration // no circuits and no moves are faster
}

// errNever is what a job has that some circuits never carry.
var errNever = errors.New("decide phases: no topology carries all phases, and there are no packets: add a topology, " +
	"or a rate of packets")

// Decide chooses circuits for each phase from topologies, so that an iteration that repeats takes least; of equal plans
// it takes the one with fewer moves, so it never moves for nothing. A move begins with its phase, and the phase lasts
// until it is over. The choice is exact, by dynamic programming over phases for each topology that the iteration can
// begin and end with.
func Decide(f Fabric, iteration []Phase, from []topoeng.Topology) (Plan, error) {
	if err := f.Check(iteration); err != nil {
		return Plan{}, err
	}
	c := newCosts(f, iteration, from)
	best, once := math.Inf(1), math.Inf(1)
	var plan Plan
	for k := range from {
		once = min(once, c.once(k))
		if seconds, circuits := c.cycle(k); seconds < best*(1-1e-12) {
			best, plan.Circuits = seconds, circuits
		}
	}
	if math.IsInf(best, 1) {
		return Plan{}, errNever
	}
	if once <= best*(1+1e-12) { // rounding is no reason to move
		best = once
		for k := range from {
			if c.once(k) == once {
				plan.Circuits = slices.Repeat([]int{k}, len(iteration))
				break
			}
		}
	}
	for i, k := range plan.Circuits {
		if k != plan.Circuits[(i+len(iteration)-1)%len(iteration)] {
			plan.Moves++
		}
	}
	plan.Time, plan.Bound = seconds(best), f.Rails(iteration)
	plan.Once = seconds(once)
	return plan, nil
}

// seconds returns a time, the longest one for infinity.
func seconds(s float64) time.Duration {
	if s*1e9 >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(s * 1e9)
}

// BreakEven returns the longest delay, of those up to a most, with which Decide still moves circuits; below zero where
// it never does. With a longer delay no plan is faster, and circuits set once are as fast as before: it is bisected.
func BreakEven(f Fabric, iteration []Phase, from []topoeng.Topology, most time.Duration) (time.Duration, error) {
	moves := func(delta time.Duration) (bool, error) {
		f.Delta = delta
		p, err := Decide(f, iteration, from)
		return p.Moves > 0, err
	}
	low, high := time.Duration(-1), most+1
	for high-low > max(1, low/1000) {
		mid := low + (high-low)/2
		if low > 0 { // delays are looked at in decades
			mid = time.Duration(math.Sqrt(float64(low) * float64(high)))
			mid = max(low+1, min(high-1, mid))
		}
		moving, err := moves(mid)
		if err != nil {
			return 0, err
		}
		if moving {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// costs is how long phases last. Phases that send the same and compute as long are of one class.
type costs struct {
	fabric  Fabric
	class   []int // by phase
	classes []*Phase
	counts  []topoeng.Counts
	from    []topoeng.Topology
	shared  [][]topoeng.Counts // circuits that two topologies share; nil: not counted yet
	lasts   [][]float64        // by class, and by topologies before and in it; below zero: not known yet
}

// key is what a class has in common.
type key struct {
	forms   *Form
	overlap bool
	compute time.Duration
}

func newCosts(f Fabric, iteration []Phase, from []topoeng.Topology) *costs {
	c := &costs{fabric: f, from: from}
	classes := map[key]int{}
	for i := range iteration {
		p := &iteration[i]
		k := key{nil, p.Overlap, p.Compute}
		if len(p.Forms) > 0 {
			k.forms = &p.Forms[0]
		}
		if _, ok := classes[k]; !ok {
			classes[k] = len(classes)
			c.classes = append(c.classes, p)
			c.lasts = append(c.lasts, slices.Repeat([]float64{-1}, len(from)*len(from)))
		}
		c.class = append(c.class, classes[k])
	}
	for _, a := range from {
		c.counts = append(c.counts, a.Counts())
		c.shared = append(c.shared, make([]topoeng.Counts, len(from)))
	}
	return c
}

// stay returns the circuits of a topology that another one has, too.
func stay(a, b topoeng.Topology) topoeng.Topology {
	out := topoeng.NewTopology(a.Pods, len(a.Out))
	for k := range a.Out {
		for i, j := range a.Out[k] {
			if b.Out[k][i] == j {
				out.Out[k][i] = j
			}
		}
	}
	return out
}

// phase returns how many seconds a phase lasts that comes from one topology and has another.
func (c *costs) phase(i, from, to int) float64 { return c.of(c.class[i], from, to) }

// of is phase for all phases of a class.
func (c *costs) of(class, from, to int) float64 {
	lasts := &c.lasts[class][from*len(c.counts)+to]
	if *lasts < 0 {
		*lasts = c.work(c.classes[class], from, to)
	}
	return *lasts
}

// stays counts the circuits that two topologies share.
func (c *costs) stays(from, to int) topoeng.Counts {
	if from == to {
		return c.counts[to]
	}
	if c.shared[from][to] == nil {
		c.shared[from][to] = stay(c.from[from], c.from[to]).Counts()
	}
	return c.shared[from][to]
}

func (c *costs) work(p *Phase, from, to int) float64 {
	moving, dark := 0.0, 0.0
	if from != to {
		moving = c.fabric.Delta.Seconds()
		if dark = moving; !p.Overlap {
			dark = max(0, moving-p.Compute.Seconds())
		}
	}
	send := 0.0
	for n, f := range p.Forms {
		s := c.fabric.sending(f.Demand, c.stays(from, to), c.counts[to], dark)
		if n == 0 || s < send {
			send = s
		}
	}
	return p.lasts(moving, send)
}

// Worth reports whether some demand is sent sooner over circuits that move, the delay included, than over those that
// stand.
func (f Fabric) Worth(d topoeng.Demand, standing, next topoeng.Topology) bool {
	p := Phase{Forms: []Form{{Demand: d}}}
	c := newCosts(f, []Phase{p}, []topoeng.Topology{standing, next})
	return c.of(0, 0, 1) < c.of(0, 0, 0)
}

// once returns an iteration whose circuits never move.
func (c *costs) once(k int) float64 {
	sum := 0.0
	for i := range c.class {
		sum += c.phase(i, k, k)
	}
	return sum
}

// cycle returns the shortest iteration that begins and ends with the circuits of one topology.
func (c *costs) cycle(start int) (float64, []int) {
	n, all := len(c.class), len(c.counts)
	came := make([][]int, n) // by phase and topology: the one before
	now := make([]float64, all)
	for k := range now {
		now[k] = math.Inf(1)
	}
	now[start] = 0
	for i := range n {
		next := make([]float64, all)
		came[i] = make([]int, all)
		for to := range next {
			next[to] = math.Inf(1)
			came[i][to] = to
			for k := range all {
				from := (to + k) % all // to stay is looked at first, and so taken where it is as fast
				if s := now[from] + c.phase(i, from, to); s < next[to]*(1-1e-12) {
					next[to], came[i][to] = s, from
				}
			}
		}
		now = next
	}
	circuits := make([]int, n)
	for i, at := n-1, start; i >= 0; i-- {
		circuits[i] = at
		at = came[i][at]
	}
	return now[start], circuits
}
