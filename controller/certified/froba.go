package certified

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lightloom/controller/solve"
)

// Effort bounds what an algorithm may spend. It is counted in work, never in time, so that a decision
// can be repeated.
type Effort struct {
	Gap    float64 // of the relaxation; 0: 0.001
	Trials int     // routings, or placements, that a search may solve; 0: 2000
	// Stop ends searches where they are; nil never does. It is for comparisons at equal processor time: no
	// policy sets it.
	Stop func() bool
}

func (e Effort) stopped() bool { return e.Stop != nil && e.Stop() }

func (e Effort) gap() float64 { return cmp.Or(e.Gap, 1e-3) }
func (e Effort) trials() int  { return cmp.Or(e.Trials, 2000) }

// FRoBA routes flows for the least sum of transfer times (section 5.4.3): it solves the relaxation that
// may split flows, sends each flow along the widest of its parts, and improves routes by local search.
func FRoBA(in *Instance, e Effort) (*Plan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	relaxed, err := in.total(e.gap()).Solve()
	if err != nil {
		return nil, in.named(err)
	}
	p, err := in.improved(in.rounded(relaxed.Paths, relaxed.X), e)
	if err != nil {
		return nil, err
	}
	p.prove(relaxed.Bound, relaxed.Y)
	p.Exhausted = p.Exhausted || relaxed.Exhausted
	return p, nil
}

// FRoBAFast is FRoBA without the relaxation (section 5.4.3.1): it begins with the shortest widest path
// of each flow. Its bound is what the prices of its own answer prove.
func FRoBAFast(in *Instance, e Effort) (*Plan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.improved(in.each(in.Router.Shortest), e)
}

// FRoBAGreedy is FRoBAFast from a better beginning: the largest flow first, each takes the path that is
// widest for one flow more. From every flow's own widest path a local search has to undo what all flows
// did alike.
func FRoBAGreedy(in *Instance, e Effort) (*Plan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.improved(in.Greedy(), e)
}

// FRoBABest solves the relaxation and begins the local search twice, from the rounded relaxation and
// from the greedy routing; it returns the better plan with the relaxation's bound.
func FRoBABest(in *Instance, e Effort) (*Plan, error) {
	p, err := FRoBA(in, e)
	if err != nil {
		return nil, err
	}
	q, err := FRoBAGreedy(in, e)
	if err != nil || p.Value <= q.Value {
		return p, err
	}
	q.prove(p.Bound, p.Price)
	q.Trials, q.Exhausted = p.Trials+q.Trials, p.Exhausted || q.Exhausted
	return q, nil
}

// each routes every flow as if it were alone.
func (in *Instance) each(choose func(flow int, width []float64) []int32) [][]int32 {
	paths := make([][]int32, len(in.Volume))
	for i, v := range in.Volume {
		if v > 0 {
			paths[i] = choose(i, in.Capacity)
		}
	}
	return paths
}

// Greedy routes flows one after the other, by what a link would have for one more.
func (in *Instance) Greedy() [][]int32 {
	order := make([]int, 0, len(in.Volume))
	for i, v := range in.Volume {
		if v > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(in.Volume[a], in.Volume[b]), cmp.Compare(a, b))
	})
	load, width := make([]float64, len(in.Capacity)), slices.Clone(in.Capacity)
	paths := make([][]int32, len(in.Volume))
	for _, i := range order {
		for l, c := range in.Capacity {
			width[l] = c * in.Volume[i] / (load[l] + in.Volume[i])
		}
		paths[i] = in.Router.Widest(i, width)
		for _, l := range paths[i] {
			load[l] += in.Volume[i]
		}
	}
	return paths
}

// rounded returns for each flow the path that is widest where a link is as wide as what it carries of
// the flow.
func (in *Instance) rounded(paths []solve.Path, x []float64) [][]int32 {
	own := make([][]int, len(in.Volume))
	for j := range paths {
		own[paths[j].Owner] = append(own[paths[j].Owner], j)
	}
	width := make([]float64, len(in.Capacity))
	out := make([][]int32, len(in.Volume))
	for i, v := range in.Volume {
		if v == 0 {
			continue
		}
		for _, j := range own[i] {
			for _, l := range paths[j].Row {
				width[l] += x[j]
			}
		}
		out[i] = in.Router.Widest(i, width)
		for _, j := range own[i] {
			for _, l := range paths[j].Row {
				width[l] = 0
			}
		}
	}
	return out
}

// named says which flow has no route.
func (in *Instance) named(err error) error {
	for i, v := range in.Volume {
		if v > 0 && in.Router.Widest(i, in.Capacity) == nil {
			return noRoute(i)
		}
	}
	return err
}

// totalSearch is the local search of FRoBA's third phase.
type totalSearch struct {
	in     *Instance
	paths  [][]int32
	now    *solve.ConcaveAnswer
	left   []float64 // by link: what is unused
	trials int       // that are left
	e      Effort
}

// improved improves routes by local search.
func (in *Instance) improved(paths [][]int32, e Effort) (*Plan, error) {
	for i, v := range in.Volume {
		if v > 0 && paths[i] == nil {
			return nil, noRoute(i)
		}
	}
	now, err := in.Total(paths)
	if err != nil {
		return nil, err
	}
	s := &totalSearch{in: in, paths: paths, now: now, trials: e.trials(), e: e}
	for s.better() {
	}
	p := &Plan{Path: s.paths, Rate: s.now.Rate, Trials: e.trials() - s.trials}
	p.Value, p.Exhausted = s.now.Value, s.trials <= 0
	p.Bound = math.Inf(-1)
	price, bound := in.total(0).Scaled(nil, s.now.Y)
	p.prove(bound, price)
	return p, nil
}

// better moves one flow off a congested link and reports whether that was an improvement: links by the
// number of their flows, flows by their transfer time, the most first.
func (s *totalSearch) better() bool {
	users := s.residual()
	var full []int32
	for l := range users {
		if len(users[l]) > 0 && s.left[l] <= congested*s.in.Capacity[l] {
			full = append(full, int32(l))
		}
	}
	slices.SortFunc(full, func(a, b int32) int {
		return cmp.Or(-cmp.Compare(len(users[a]), len(users[b])), cmp.Compare(a, b))
	})
	time := func(i int) float64 { return s.in.Volume[i] / s.now.Rate[i] }
	for _, l := range full {
		slices.SortFunc(users[l], func(a, b int) int {
			return cmp.Or(-cmp.Compare(time(a), time(b)),
				cmp.Compare(a, b))
		})
		for _, i := range users[l] {
			if s.trials <= 0 || s.e.stopped() {
				return false
			}
			if s.move(i, l) {
				return true
			}
		}
	}
	return false
}

// congested is the part of a link that may be unused though it is full: rates are exact to totalGap only.
const congested = 1e-4

// residual computes what links have left, and returns their flows.
func (s *totalSearch) residual() [][]int {
	users := make([][]int, len(s.in.Capacity))
	s.left = slices.Clone(s.in.Capacity)
	for i, links := range s.paths {
		for _, l := range links {
			users[l] = append(users[l], i)
			s.left[l] = max(0, s.left[l]-s.now.Rate[i])
		}
	}
	return users
}

// move tries a flow on the shortest widest path without a link. A path on which the present prices
// prove that nothing is gained is not tried: with them the sum changes by at least 2√volume·(√price of
// the new path − √price of the old).
func (s *totalSearch) move(flow int, without int32) bool {
	in, old := s.in, s.paths[flow]
	for _, l := range old {
		s.left[l] += s.now.Rate[flow]
	}
	kept := s.left[without]
	s.left[without] = 0
	to := in.Router.Shortest(flow, s.left)
	s.left[without] = kept
	for _, l := range old {
		s.left[l] -= s.now.Rate[flow]
	}
	if to == nil || slices.Equal(to, old) {
		return false
	}
	gain := math.Sqrt(s.price(old)) - math.Sqrt(s.price(to))
	if s.now.Bound-2*math.Sqrt(in.Volume[flow])*gain >= s.now.Value*(1-gained) {
		return false
	}
	s.paths[flow] = to
	s.trials--
	next, err := in.Total(s.paths)
	if err != nil || !(next.Value < s.now.Value*(1-gained)) {
		s.paths[flow] = old
		return false
	}
	s.now = next
	return true
}

// gained is the least improvement worth a move, above what rates are off by.
const gained = 1e-6

func (s *totalSearch) price(links []int32) float64 {
	sum := 0.0
	for _, l := range links {
		sum += s.now.Y[l]
	}
	return sum
}

// totalBound is what prices prove of all routings, split ones included.
func (in *Instance) totalBound(price []float64) float64 { return in.total(0).Bound(nil, price) }

// prove keeps the better bound.
func (p *Plan) prove(bound float64, price []float64) {
	if bound > p.Bound {
		p.Bound, p.Price = bound, price
	}
}

// VerifyTotal checks a plan for the sum of transfer times without the solver.
func (p *Plan) VerifyTotal(in *Instance) error {
	if err := in.feasible(p); err != nil {
		return err
	}
	if v := in.totalOf(p.Rate); !same(v, p.Value) {
		return fmt.Errorf("verify plan: transfer times add up to %v, not %v", v, p.Value)
	}
	if b := in.totalBound(p.Price); !same(b, p.Bound) {
		return fmt.Errorf("verify plan: its prices prove %v, not %v", b, p.Bound)
	}
	return nil
}
