package certified

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lightloom/controller/solve"
)

// CoRBA routes flows so that the last of them ends earliest (algorithm 7): it solves the relaxation
// that may split flows (CoS-Relax), sends each flow along the widest of its parts, and improves routes
// by local search.
func CoRBA(in *Instance, e Effort) (*Plan, error) {
	p, _, err := in.corba(e)
	return p, err
}

func (in *Instance) corba(e Effort) (*Plan, *Relaxed, error) {
	relaxed, err := in.Relax(e)
	if err != nil {
		return nil, nil, err
	}
	p, err := in.quickened(in.rounded(relaxed.Paths, relaxed.X), e)
	if err != nil {
		return nil, nil, err
	}
	p.prove(relaxed.Bound, relaxed.Price)
	p.Exhausted = p.Exhausted || relaxed.Exhausted
	return p, relaxed, nil
}

// CoRBAFast is CoRBA without the relaxation (algorithm 8): it begins with the shortest widest path of
// each flow. It proves what links of equal length prove.
func CoRBAFast(in *Instance, e Effort) (*Plan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.quickened(in.each(in.Router.Shortest), e)
}

// CoRBAGreedy is CoRBAFast from the greedy routing.
func CoRBAGreedy(in *Instance, e Effort) (*Plan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.quickened(in.Greedy(), e)
}

// CoRBABest solves the relaxation, begins the local search from its rounding and from the greedy
// routing, and proves the better plan by the threshold bound where that is higher than the
// relaxation's.
func CoRBABest(in *Instance, e Effort) (*Plan, error) {
	p, relaxed, err := in.corba(e)
	if err != nil {
		return nil, err
	}
	q, err := CoRBAGreedy(in, e)
	if err == nil && q.Value < p.Value {
		q.prove(p.Bound, p.Price)
		q.Exhausted = q.Exhausted || p.Exhausted
		p = q
	}
	return p, in.threshold(p, relaxed.Paths, e)
}

// Relaxed is an answer to CoS-Relax.
type Relaxed struct {
	solve.Certificate
	Paths []solve.Path
	X     []float64 // by path: its part of its flow
	Price []float64 // by link
}

// lastProgram is CoS-Relax over the links that a bound leaves to each flow: minimise T such that the
// parts of each flow add up to one and no link needs longer than T for what it carries. Row i is flow
// i's, the others are links'.
type lastProgram struct {
	in    *Instance
	flows []int   // those with volume
	unit  float64 // of volume
	speed float64 // of capacity
	limit float64 // seconds that a flow may take alone on a link; +Inf: no limit
	paths []solve.Path
}

// allowed are the lengths of links for a flow: those too narrow for it to end in time are left out.
func (p *lastProgram) allowed(flow int, length, out []float64) []float64 {
	copy(out, length)
	if !math.IsInf(p.limit, 1) {
		for l, c := range p.in.Capacity {
			if c*p.limit < p.in.Volume[flow] {
				out[l] = math.Inf(1)
			}
		}
	}
	return out
}

// column makes a path a column of the program.
func (p *lastProgram) column(k int, q solve.Path) solve.Column {
	c := solve.Column{Row: []int32{int32(k)}, Coef: []float64{1}}
	for _, l := range q.Row {
		c.Row = append(c.Row, int32(len(p.flows))+l)
		c.Coef = append(c.Coef, p.in.Volume[p.flows[k]]/p.unit/(p.in.Capacity[l]/p.speed))
	}
	return c
}

// Price implements solve.Oracle: for each flow the cheapest path, if it pays less than the flow's row
// is worth.
func (p *lastProgram) Price(y []float64, _ bool) (news []solve.Column, slack float64) {
	length := make([]float64, len(p.in.Capacity))
	for l, c := range p.in.Capacity {
		length[l] = math.Inf(1)
		if c > 0 {
			length[l] = -y[len(p.flows)+l] / (c / p.speed)
		}
	}
	own := make([]float64, len(length))
	for k, i := range p.flows {
		if y[k] <= 0 { // no path is cheaper than that
			continue
		}
		// Most flows have the cheapest path already: a search that ends at its cost finds nothing, and soon.
		volume, off := p.in.Volume[i]/p.unit, pruned*y[k]
		links, dist := p.in.Router.Cheapest(i, p.allowed(i, length, own), (y[k]-off)/volume)
		if links == nil {
			slack -= off
			continue
		}
		if d := volume*dist - y[k]; d < 0 {
			slack += d // the parts of a flow add up to one
			if d < -1e-9*max(1, math.Abs(y[k])) {
				q := path(i, links)
				p.paths = append(p.paths, q)
				news = append(news, p.column(k, q))
			}
		}
	}
	return news, slack
}

// pruned is how much cheaper than a flow's own a path must be to be looked for: more than what rounding
// is off by.
const pruned = 1e-10

// Relax solves CoS-Relax.
func (in *Instance) Relax(e Effort) (*Relaxed, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.relax(math.Inf(1), nil, e)
}

// relax solves CoS-Relax over links that are fast enough, from some paths that are known. With a finite
// limit it only decides whether flows can end by it.
func (in *Instance) relax(limit float64, known []solve.Path, e Effort) (*Relaxed, error) {
	p := &lastProgram{in: in, limit: limit, unit: slices.Max(append([]float64{0}, in.Volume...)),
		speed: slices.Max(append([]float64{0}, in.Capacity...))}
	for i, v := range in.Volume {
		if v > 0 {
			p.flows = append(p.flows, i)
		}
	}
	out := &Relaxed{Price: make([]float64, len(in.Capacity))}
	if len(p.flows) == 0 {
		return out, nil
	}
	lp := &solve.Linear{Oracle: p, Gap: min(e.gap(), 1e-3),
		Right: make([]float64, len(p.flows)+len(in.Capacity)),
		Sense: make([]solve.Sense, len(p.flows)+len(in.Capacity))}
	last := solve.Column{Cost: 1}
	for l := range in.Capacity {
		last.Row, last.Coef = append(last.Row, int32(len(p.flows)+l)), append(last.Coef, -1)
	}
	lp.Columns = append(lp.Columns, last)
	if !math.IsInf(limit, 1) {
		lp.Enough = limit * p.speed / p.unit
	}
	if err := p.begin(known); err != nil {
		return nil, err
	}
	row := make([]int, len(in.Volume))
	for k, i := range p.flows {
		lp.Right[k], lp.Sense[k], row[i] = 1, solve.Equal, k
	}
	for _, q := range p.paths {
		lp.Columns = append(lp.Columns, p.column(row[q.Owner], q))
	}
	a, err := lp.Solve()
	if err != nil {
		return nil, err
	}
	out.Certificate, out.Paths, out.X = a.Certificate, p.paths[:len(a.X)-1], a.X[1:]
	for l, c := range in.Capacity {
		if c > 0 {
			out.Price[l] = max(0, -a.Y[len(p.flows)+l]) / c
		}
	}
	out.Value, out.Bound = a.Value*p.unit/p.speed, in.lastBound(out.Price, limit)
	return out, nil
}

// begin lists the known paths that flows can take, and one for each flow that has none.
func (p *lastProgram) begin(known []solve.Path) error {
	in := p.in
	has := make([]bool, len(in.Volume))
	for _, q := range known {
		if slow := func(l int32) bool { return in.Capacity[l]*p.limit < in.Volume[q.Owner] }; !math.IsInf(p.limit, 1) &&
			slices.ContainsFunc(q.Row, slow) {
			continue
		}
		p.paths, has[q.Owner] = append(p.paths, q), true
	}
	equal, own := in.inverse(), make([]float64, len(in.Capacity))
	for _, i := range p.flows {
		if has[i] {
			continue
		}
		links, _ := in.Router.Cheapest(i, p.allowed(i, equal, own), math.Inf(1))
		if links == nil {
			return noRoute(i)
		}
		p.paths = append(p.paths, path(i, links))
	}
	return nil
}

// inverse are lengths by which a link is as long as it is slow.
func (in *Instance) inverse() []float64 {
	out := make([]float64, len(in.Capacity))
	for l, c := range in.Capacity {
		out[l] = 1 / c
	}
	return out
}

// lastBound is what prices prove of all routings, split ones included, on which no flow takes a link
// that is too slow for it to end by the limit: Σ volume · cheapest path over Σ price · capacity.
func (in *Instance) lastBound(price []float64, limit float64) float64 {
	p := &lastProgram{in: in, limit: limit}
	length, own := in.lengths(price), make([]float64, len(price))
	need, have := 0.0, 0.0
	for l, c := range in.Capacity {
		have += price[l] * c
	}
	for i, v := range in.Volume {
		if v == 0 {
			continue
		}
		_, dist := in.Router.Cheapest(i, p.allowed(i, length, own), math.Inf(1))
		need += v * dist
	}
	if have <= 0 {
		return 0
	}
	return need / have
}

// threshold raises a plan's bound by what is proven of routings that do not split flows: they end by T
// only if no flow takes a link that is too slow for it to end by T alone, and the relaxation over the
// remaining links can be refuted. It bisects T between the bound and the plan's own time, and begins
// each time with the paths that it knows.
func (in *Instance) threshold(p *Plan, known []solve.Path, e Effort) error {
	low, high := p.Bound, p.Value
	for range thresholds {
		if high <= low*(1+e.gap()) || math.IsInf(low, -1) {
			return nil
		}
		t := math.Sqrt(max(low, high*1e-6) * high)
		if in.lastBound(p.Price, t) > t { // the prices at hand refute it, too
			p.Bound, p.Threshold, low = t, t, t
			continue
		}
		r, err := in.relax(t, known, e)
		if err != nil || r.Bound > t {
			price := make([]float64, len(in.Capacity))
			if err == nil {
				price = r.Price
			}
			p.Bound, p.Price, p.Threshold, low = t, price, t, t
			continue
		}
		high, known = t, r.Paths
	}
	return nil
}

// thresholds is how often the threshold bound halves its interval.
const thresholds = 8

// lastSearch is the local search of CoRBA's third phase.
type lastSearch struct {
	in    *Instance
	paths [][]int32
	rate  []float64
	last  float64
	left  []float64
}

// quickened improves routes by local search, for the last flow's time.
func (in *Instance) quickened(paths [][]int32, e Effort) (*Plan, error) {
	for i, v := range in.Volume {
		if v > 0 && paths[i] == nil {
			return nil, noRoute(i)
		}
	}
	s := &lastSearch{in: in, paths: paths}
	if err := s.solve(); err != nil {
		return nil, err
	}
	trials := e.trials()
	for trials > 0 && !e.stopped() && s.better(&trials) {
	}
	p := &Plan{Path: s.paths, Rate: s.rate, Trials: e.trials() - trials}
	p.Value, p.Exhausted, p.Bound = s.last, trials <= 0, math.Inf(-1)
	equal := in.inverse()
	for l, c := range in.Capacity {
		if c <= 0 {
			equal[l] = 0
		}
	}
	p.prove(in.lastBound(equal, math.Inf(1)), equal)
	return p, nil
}

func (s *lastSearch) solve() (err error) {
	s.rate, s.last, err = s.in.Makespan(s.paths)
	return err
}

// better moves one of the flows that end last to its widest path without the links that are full, and
// reports whether it ends earlier now.
func (s *lastSearch) better(trials *int) bool {
	s.left = slices.Clone(s.in.Capacity)
	for i, links := range s.paths {
		for _, l := range links {
			s.left[l] = max(0, s.left[l]-s.rate[i])
		}
	}
	var slowest []int
	for i, v := range s.in.Volume {
		if v > 0 && v/s.rate[i] >= s.last*(1-1e-9) {
			slowest = append(slowest, i)
		}
	}
	for _, i := range slowest {
		if *trials <= 0 {
			return false
		}
		if s.move(i, trials) {
			return true
		}
	}
	return false
}

// move tries a flow on the widest path without the full links of its own; the time of all may not grow.
func (s *lastSearch) move(i int, trials *int) bool {
	width, old := slices.Clone(s.left), s.paths[i]
	for _, l := range old {
		width[l] += s.rate[i]
		if s.left[l] <= 1e-9*s.in.Capacity[l] {
			width[l] = 0
		}
	}
	to := s.in.Router.Widest(i, width)
	if to == nil || slices.Equal(to, old) {
		return false
	}
	*trials--
	rate, last := s.rate, s.last
	s.paths[i] = to
	if err := s.solve(); err == nil && s.last <= last && s.rate[i] > rate[i]*(1+gained) {
		return true
	}
	s.paths[i], s.rate, s.last = old, rate, last
	return false
}

// VerifyLast checks a plan for the time of the last flow without the solver.
func (p *Plan) VerifyLast(in *Instance) error {
	if err := in.feasible(p); err != nil {
		return err
	}
	if v := in.lastOf(p.Rate); !same(v, p.Value) {
		return fmt.Errorf("verify plan: the last flow ends after %v, not %v", v, p.Value)
	}
	if p.Threshold > 0 {
		if b := in.lastBound(p.Price, p.Threshold); b <= p.Threshold && in.routed(p.Threshold) ||
			p.Bound > p.Threshold {
			return fmt.Errorf("verify plan: the prices do not refute %v", p.Threshold)
		}
		return nil
	}
	if b := in.lastBound(p.Price, math.Inf(1)); !same(b, p.Bound) {
		return fmt.Errorf("verify plan: its prices prove %v, not %v", b, p.Bound)
	}
	return nil
}

// routed reports whether every flow has a path of links that are fast enough for it to end by a time.
func (in *Instance) routed(limit float64) bool {
	p := &lastProgram{in: in, limit: limit}
	length, own := in.lengths(make([]float64, len(in.Capacity))), make([]float64, len(in.Capacity))
	for i, v := range in.Volume {
		if links, _ := in.Router.Cheapest(i, p.allowed(i, length, own), math.Inf(1)); v > 0 && links == nil {
			return false
		}
	}
	return true
}

// MinCCT is RAPIER's MinimizeCCT over K candidate paths a flow (section 4.7.1.3): it solves the
// relaxation over the candidates, sends each flow along its largest part, and lets no local search
// follow.
func MinCCT(in *Instance, candidates Candidates, e Effort) (*Plan, error) {
	few := *in
	few.Router = candidates
	relaxed, err := few.Relax(e)
	if err != nil {
		return nil, err
	}
	largest, paths := make([]float64, len(in.Volume)), make([][]int32, len(in.Volume))
	for j, q := range relaxed.Paths {
		if x := relaxed.X[j]; paths[q.Owner] == nil || x > largest[q.Owner] {
			largest[q.Owner], paths[q.Owner] = x, q.Row
		}
	}
	rate, last, err := in.Makespan(paths)
	if err != nil {
		return nil, err
	}
	p := &Plan{Path: paths, Rate: rate}
	p.Value, p.Bound = last, math.Inf(-1)
	p.prove(in.lastBound(relaxed.Price, math.Inf(1)), relaxed.Price)
	return p, nil
}

// Kind is which candidate paths MinCCT has: the shortest (S), the widest (M), or the widest of the
// shortest (SM).
type Kind int

// The kinds.
const (
	ShortestPaths Kind = iota
	WidestPaths
	ShortestWidestPaths
)

// Best returns the first k candidates of each flow by a kind's order; paths that are alike in it stay
// in theirs.
func (c Candidates) Best(kind Kind, k int, width []float64) Candidates {
	out := make(Candidates, len(c))
	for i, all := range c {
		own := slices.Clone(all)
		slices.SortStableFunc(own, func(a, b []int32) int {
			short, wide := cmp.Compare(len(a), len(b)), -cmp.Compare(narrowest(a, width), narrowest(b, width))
			switch kind {
			case ShortestPaths:
				return short
			case WidestPaths:
				return wide
			}
			return cmp.Or(short, wide)
		})
		out[i] = own[:min(k, len(own))]
	}
	return out
}
