package solve

import (
	"cmp"
	"math"
	"slices"
)

// interior is the primal-dual interior-point method with a predictor and a corrector (Mehrotra 1992)
// for a Concave. Its normal equations are over the rows in use, and sparse. Rates stay feasible
// throughout: slacks follow from them. Paths come from the oracle while the barrier falls, whenever the
// gap to the bound over listed paths is a tenth of the gap to that over all.
type interior struct {
	p      *Concave
	paths  []Path  // open ones, of owners with a weight, with rows as positions among those in use
	all    []Path  // the same, as the program names rows
	from   []int   // by path: which of the answer's
	count  int     // paths of the answer
	rows   []int32 // in use
	at     []int32 // by row: position, -1 if unused
	unit   float64 // of rates
	weight float64 // unit of weights

	q, z     []float64 // by path
	s, price []float64 // by position
	rate     []float64 // by owner
	first    []float64 // derivatives of an owner's cost
	second   []float64
	mu       float64

	normal *symmetric
	chol   *cholesky
	own    [][]int32 // by owner: its paths

	best  Certificate
	bestX []float64
	bestY []float64 // by row
}

// Solve finds an optimum within Gap. The error is an *InfeasibleError where an owner has no path with
// capacity. When the limit is hit the answer says Exhausted, and holds the best that was found.
func (p *Concave) Solve() (*ConcaveAnswer, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	listed := slices.Clone(p.Paths)
	if p.Oracle != nil {
		listed = append(listed, p.wide()...)
	}
	if err := p.missing(listed); err != nil {
		return nil, err
	}
	in := &interior{p: p, at: make([]int32, len(p.Right)), rate: make([]float64, len(p.Weight)),
		first: make([]float64, len(p.Weight)), second: make([]float64,
			len(p.Weight)), own: make([][]int32, len(p.Weight))}
	for r := range in.at {
		in.at[r] = -1
	}
	in.unit, in.weight = norm(p.Right), norm(p.Weight)
	in.best = Certificate{Value: math.Inf(1), Bound: math.Inf(-1), Scale: p.scale()}
	in.bestY = make([]float64, len(p.Right))
	in.add(listed)
	if len(in.paths) == 0 { // nobody wants anything
		return in.answer(listed), nil
	}
	in.begin()
	listed = in.run(listed)
	return in.answer(listed), nil
}

// wide returns the paths that are cheapest if a row's price is the inverse of what it can carry.
func (p *Concave) wide() []Path {
	y := make([]float64, len(p.Right))
	for r, b := range p.Right {
		if b > 0 {
			y[r] = 1 / b
		}
	}
	_, paths := p.Oracle.Cheapest(y)
	return paths
}

// add takes paths into the program; those without capacity or weight only into the answer.
func (in *interior) add(paths []Path) (news int) {
	for _, q := range paths {
		in.count++
		if in.p.Weight[q.Owner] == 0 || !in.p.open(&q) {
			continue
		}
		local := Path{q.Owner, make([]int32, len(q.Row)), q.Coef}
		for i, r := range q.Row {
			if in.at[r] < 0 {
				in.at[r] = int32(len(in.rows))
				in.rows = append(in.rows, r)
			}
			local.Row[i] = in.at[r]
		}
		if !slices.IsSorted(local.Row) {
			local = sorted(local)
		}
		in.own[q.Owner] = append(in.own[q.Owner], int32(len(in.paths)))
		in.paths, in.all, in.from = append(in.paths, local), append(in.all, q), append(in.from, in.count-1)
		news++
	}
	if news > 0 {
		in.analyse()
	}
	return news
}

// sorted returns a path with its rows in order.
func sorted(q Path) Path {
	by := make([]int, len(q.Row))
	for i := range by {
		by[i] = i
	}
	slices.SortFunc(by, func(a, b int) int { return cmp.Compare(q.Row[a], q.Row[b]) })
	out := Path{q.Owner, make([]int32, len(by)), make([]float64, len(by))}
	for i, k := range by {
		out.Row[i], out.Coef[i] = q.Row[k], q.Coef[k]
	}
	return out
}

// analyse finds the pattern of the normal equations: all rows that an owner's paths take depend on each
// other.
func (in *interior) analyse() {
	pat := newPattern(len(in.rows))
	for i := range in.rows {
		pat.add(int32(i), int32(i))
	}
	for _, own := range in.own {
		for _, a := range in.union(own) {
			for _, b := range in.union(own) {
				pat.add(a, b)
			}
		}
	}
	in.normal = pat.matrix()
	in.chol = analyse(pat)
}

// union returns the rows of some paths, ascending.
func (in *interior) union(paths []int32) []int32 {
	var rows []int32
	for _, j := range paths {
		rows = append(rows, in.paths[j].Row...)
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

func (in *interior) right(i int) float64 { return in.p.Right[in.rows[i]] / in.unit }

// begin sets rates that leave as much of a row as a path gets, and prices that are above what owners
// gain by more rate, so that all of it is feasible.
func (in *interior) begin() {
	count := make([]float64, len(in.rows))
	for _, q := range in.paths {
		for i, r := range q.Row {
			count[r] += q.Coef[i]
		}
	}
	in.q, in.z = make([]float64, len(in.paths)), make([]float64, len(in.paths))
	for j, q := range in.paths {
		in.q[j] = math.Inf(1)
		for i, r := range q.Row {
			in.q[j] = min(in.q[j], in.right(int(r))/(count[r]+q.Coef[i]))
		}
	}
	in.price = make([]float64, len(in.rows))
	in.state()
	for _, q := range in.paths {
		sum := 0.0
		for _, c := range q.Coef {
			sum += c
		}
		for _, r := range q.Row {
			in.price[r] = max(in.price[r], -1.5*in.first[q.Owner]/sum)
		}
	}
	for j, q := range in.paths {
		in.z[j] = in.first[q.Owner] + q.cost(in.price)
	}
	mu, _ := in.product(direction{}, 0)
	in.mu = mu / float64(len(in.q)+len(in.s))
}

// state computes rates, slacks and derivatives from what paths carry.
func (in *interior) state() {
	clear(in.rate)
	in.s = slices.Grow(in.s[:0], len(in.rows))[:len(in.rows)]
	for i := range in.s {
		in.s[i] = in.right(i)
	}
	for j, x := range in.q {
		q := &in.paths[j]
		in.rate[q.Owner] += x
		for i, r := range q.Row {
			in.s[r] -= q.Coef[i] * x
		}
	}
	for i := range in.s {
		in.s[i] = max(in.s[i], in.right(i)*1e-16)
	}
	for i, b := range in.rate {
		if len(in.own[i]) == 0 {
			continue
		}
		w := in.p.Weight[i] / in.weight
		slope := w * math.Pow(b, -in.p.Alpha)
		in.first[i], in.second[i] = -slope, in.p.Alpha*slope/b
	}
}

// centre raises prices and reduced costs that are too small for the barrier.
func (in *interior) centre(least float64) {
	for j := range in.z {
		in.z[j] = max(in.z[j], least*in.mu/in.q[j])
	}
	for i := range in.price {
		in.price[i] = max(in.price[i], least*in.mu/in.s[i])
	}
}

// patience is after how many iterations the method begins anew, with the paths that it has: mostly 20
// are enough, and where they are not a pair of unknowns has come too close to zero.
const patience = 60

// run lowers the barrier until the gap is closed or the limit hit, and returns all paths.
func (in *interior) run(listed []Path) []Path {
	limit, target := cmp.Or(in.p.Limit, 300), cmp.Or(in.p.Gap, 1e-6)
	proven := math.Inf(1) // the gap to the bound over all paths, when it was last known
	for ; in.best.Iterations < limit; in.best.Iterations++ {
		y := in.prices()
		in.note()
		low, _ := in.p.scaled(in.p.cheapest(in.all, y), y)
		near := Certificate{Value: in.best.Value, Bound: low, Scale: in.best.Scale}
		if in.p.Oracle == nil {
			in.prove(in.p.cheapest(in.all, y), y)
		} else if near.Gap() <= max(target/2, min(proven, 1)/10) {
			least, news := in.p.Oracle.Cheapest(y)
			in.prove(least, y)
			proven = in.best.Gap()
			if proven > target {
				listed = in.extend(listed, news, y)
			}
		}
		if in.best.Gap() <= target {
			return listed
		}
		if !in.step() || in.best.Iterations%patience == patience-1 {
			in.begin()
		}
	}
	in.best.Exhausted = true
	y := in.prices()
	least := in.p.cheapest(listed, y)
	if in.p.Oracle != nil {
		least, _ = in.p.Oracle.Cheapest(y)
	}
	in.prove(least, y)
	return listed
}

// far is the gap above which new paths change rates so much that the method begins anew.
const far = 0.3

// extend takes in those of the oracle's paths that are cheaper than what their owner has, or else lets
// the barrier fall.
func (in *interior) extend(listed, news []Path, y []float64) []Path {
	have := in.p.cheapest(in.all, y)
	var better []Path
	for _, q := range news {
		if in.p.Weight[q.Owner] > 0 && q.cost(y) < have[q.Owner]*(1-1e-9) {
			better = append(better, q)
		}
	}
	before := len(in.paths)
	if in.add(better) == 0 {
		return listed
	}
	if in.best.Gap() > far {
		in.begin()
		return append(listed, better...)
	}
	in.price = append(in.price, make([]float64, len(in.rows)-len(in.price))...)
	for j := range in.q {
		in.q[j] *= 0.9
	}
	in.state()
	count := make([]float64, len(in.rows))
	for _, q := range in.paths[before:] {
		for i, r := range q.Row {
			count[r] += q.Coef[i]
		}
	}
	for _, q := range in.paths[before:] {
		x := in.rate[q.Owner] / 10
		for _, r := range q.Row {
			x = min(x, in.s[r]/count[r]/2)
		}
		in.q, in.z = append(in.q, x), append(in.z, 0)
	}
	in.state()
	if gap := in.best.Gap(); gap < 1 { // rates of paths are to move by about the gap
		terms := 0.0
		for i, rate := range in.rate {
			terms -= in.first[i] * rate
		}
		in.mu = max(in.mu, gap*terms/float64(len(in.q)+len(in.s))/2)
	}
	in.centre(0.1)
	return append(listed, better...)
}

// prices returns the rows' prices in the program's units. Rows not in use have the price that the
// barrier gives an empty row, or the oracle would take the narrowest of them for free.
func (in *interior) prices() []float64 {
	y := make([]float64, len(in.p.Right))
	unit := in.weight * math.Pow(in.unit, -in.p.Alpha)
	for r, b := range in.p.Right {
		if b > 0 && in.p.Oracle != nil {
			y[r] = in.mu * in.unit / b * unit
		}
	}
	for i, r := range in.rows {
		y[r] = in.price[i] * unit
	}
	return y
}

// note keeps the best rates, scaled up to the first row that is full.
func (in *interior) note() {
	load := make([]float64, len(in.rows))
	for j, x := range in.q {
		for i, r := range in.paths[j].Row {
			load[r] += in.paths[j].Coef[i] * x
		}
	}
	up := math.Inf(1)
	for i, l := range load {
		up = min(up, in.right(i)/l)
	}
	up *= in.unit
	value := 0.0
	for i, rate := range in.rate {
		if len(in.own[i]) > 0 {
			value += in.p.term(i, rate*up)
		}
	}
	if value < in.best.Value {
		in.best.Value = value
		in.bestX = in.bestX[:0]
		for _, x := range in.q {
			in.bestX = append(in.bestX, x*up)
		}
	}
}

// prove keeps the best bound.
func (in *interior) prove(least, y []float64) {
	if bound, by := in.p.scaled(least, y); bound > in.best.Bound {
		for r := range y {
			y[r] *= by
		}
		in.best.Bound, in.bestY = bound, y
	}
}

func (in *interior) answer(listed []Path) *ConcaveAnswer {
	a := &ConcaveAnswer{Certificate: in.best, Paths: listed, X: make([]float64, len(listed)),
		Rate: make([]float64, len(in.p.Weight)), Y: in.bestY}
	if len(in.paths) == 0 {
		a.Value, a.Bound = 0, 0
	}
	for j, x := range in.bestX {
		a.X[in.from[j]] = x
		a.Rate[in.paths[j].Owner] += x
	}
	return a
}
