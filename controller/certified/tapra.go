package certified

import (
	"fmt"
	"math"
	"slices"

	"lightloom/controller/solve"
)

// Limit is what a job's tasks may take of some servers together: one server, a rack, a pod or all.
type Limit struct {
	Name    string
	Servers []int32
	Most    float64
}

// Tasks is a job of independent tasks that are to be placed on servers and given resources there, so
// that the last ends earliest (SJS, section 3.4). A task with resources c on a server runs for
// load/(efficiency·c) and takes power·load/efficiency of energy.
type Tasks struct {
	Load       []float64   // by task
	Efficiency [][]float64 // by task and server, at most 1; 0: it cannot run there
	Power      []float64   // by task; nil: 1
	Limits     []Limit
	Energy     float64 // at most; 0: no limit
	Slots      []int32 // by server: how many tasks it can take; nil: any number. Bounds do not heed it.
}

// Placed is a server and resources for every task, and what is proven of them.
type Placed struct {
	Server   []int32   // by task
	Resource []float64 // by task
	Energy   float64
	solve.Certificate
	Price       []float64 // by limit: the proof of the bound, with that of energy
	EnergyPrice float64
	Trials      int
}

// Sharing is how the tasks of a placement share what a limit allows.
type Sharing uint8

const (
	// Proportional gives tasks resources in proportion to their work, so that those of a full limit end together.
	// This is the answer of OptRA (equation 3.17).
	Proportional Sharing = iota
	// Equal gives each task of a limit as much, whatever its work: the static resources of section 3.2.
	Equal
)

// placing is the work on a Tasks.
type placing struct {
	*Tasks
	sharing Sharing
	in      [][]int32   // by server: its limits
	works   [][]float64 // by task and server: what work returns
	server  []int32
	slots   []int32   // by server: that are left; nil: any number
	sum     []float64 // by limit: load over efficiency
	count   []int32   // by limit: tasks
	most    []float64 // by limit: the largest work of a task; kept for Equal alone
	energy  float64
}

func (t *Tasks) check() error {
	if len(t.Efficiency) != len(t.Load) || t.Power != nil && len(t.Power) != len(t.Load) {
		return fmt.Errorf("place tasks: %d loads, %d efficiencies, %d powers", len(t.Load),
			len(t.Efficiency), len(t.Power))
	}
	for i, l := range t.Load {
		if !(l >= 0) || math.IsInf(l, 1) {
			return fmt.Errorf("place tasks: load of task %d is %v", i, l)
		}
		for j, e := range t.Efficiency[i] {
			if !(e >= 0 && e <= 1) || len(t.Efficiency[i]) != len(t.Efficiency[0]) {
				return fmt.Errorf("place tasks: efficiency of task %d on server %d is %v", i, j, e)
			}
		}
	}
	for _, l := range t.Limits {
		if !(l.Most >= 0) || math.IsInf(l.Most, 1) {
			return fmt.Errorf("place tasks: limit %s is %v", l.Name, l.Most)
		}
	}
	if len(t.Load) > 0 && t.Slots != nil && len(t.Slots) != len(t.Efficiency[0]) {
		return fmt.Errorf("place tasks: slots of %d servers, efficiencies of %d", len(t.Slots),
			len(t.Efficiency[0]))
	}
	if !(t.Energy >= 0) {
		return fmt.Errorf("place tasks: energy is %v", t.Energy)
	}
	return nil
}

func (t *Tasks) power(i int) float64 {
	if t.Power == nil {
		return 1
	}
	return t.Power[i]
}

// work returns the resources times seconds that a task takes on a server, +Inf where it cannot run.
func (p *placing) work(i int, server int32) float64 { return p.works[i][server] }

// tabulate computes the works of all tasks on all servers.
func (p *placing) tabulate() {
	empty := func(k int32) bool { return p.Limits[k].Most == 0 }
	runs := make([]bool, len(p.in))
	for s, limits := range p.in {
		runs[s] = len(limits) > 0 && !slices.ContainsFunc(limits, empty)
	}
	p.works = make([][]float64, len(p.Load))
	for i, load := range p.Load {
		p.works[i] = slices.Repeat([]float64{math.Inf(1)}, len(p.in))
		for s, e := range p.Efficiency[i] {
			if e > 0 && runs[s] {
				p.works[i][s] = load / e
			}
		}
	}
}

// begin checks a job and says why it cannot be placed, if so: a task without a server, or too little energy.
func (t *Tasks) begin() (*placing, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n := len(t.Limits)
	p := &placing{Tasks: t, server: make([]int32, len(t.Load)), sum: make([]float64, n), count: make([]int32, n),
		most: make([]float64, n), slots: slices.Clone(t.Slots)}
	for i := range p.server {
		p.server[i] = nowhere
	}
	if len(t.Load) > 0 {
		p.in = make([][]int32, len(t.Efficiency[0]))
	}
	for k, l := range t.Limits {
		for _, s := range l.Servers {
			p.in[s] = append(p.in[s], int32(k))
		}
	}
	p.tabulate()
	least := 0.0
	for i := range t.Load {
		best := p.best(i)
		if best < 0 {
			return nil, &solve.InfeasibleError{
				Reason: fmt.Sprintf("task %d has no server with efficiency, resources and a limit", i)}
		}
		least += t.power(i) * p.work(i, best)
	}
	if t.Energy > 0 && least > t.Energy*(1+1e-12) {
		return nil, &solve.InfeasibleError{
			Reason: fmt.Sprintf("the tasks take %.6g of energy on their best servers, and %.6g are allowed", least, t.Energy)}
	}
	return p, nil
}

// best returns the server on which a task is done with the least work, the first of equals; -1 if it
// can run nowhere.
func (p *placing) best(i int) int32 {
	best, at := math.Inf(1), int32(-1)
	for s := range p.in {
		if w := p.work(i, int32(s)); w < best {
			best, at = w, int32(s)
		}
	}
	return at
}

// open reports whether a server has a slot left.
func (p *placing) open(server int32) bool { return p.slots == nil || p.slots[server] > 0 }

// settle places a task that is nowhere on a server, or, if that has no slot left, on the one of those
// that have where it ends earliest.
func (p *placing) settle(i int, server int32) error {
	if !p.open(server) {
		least, at := math.Inf(1), int32(-1)
		for s := range p.in {
			if w := p.work(i, int32(s)); !math.IsInf(w, 1) && p.open(int32(s)) && p.with(w, int32(s)) < least {
				least, at = p.with(w, int32(s)), int32(s)
			}
		}
		if server = at; at < 0 {
			return &solve.InfeasibleError{Reason: fmt.Sprintf("task %d finds no slot on a server where it can run", i)}
		}
	}
	p.put(i, server)
	return nil
}

// settleAll places all tasks, which are nowhere.
func (p *placing) settleAll(server func(i int) int32) error {
	for i := range p.Load {
		if err := p.settle(i, server(i)); err != nil {
			return err
		}
	}
	return nil
}

// put places a task that is nowhere; take removes it.
func (p *placing) put(i int, server int32) {
	p.server[i] = server
	if p.slots != nil {
		p.slots[server]--
	}
	w := p.work(i, server)
	p.energy += p.power(i) * w
	for _, k := range p.in[server] {
		p.sum[k] += w
		p.count[k]++
		p.most[k] = max(p.most[k], w)
	}
}

func (p *placing) take(i int) {
	w := p.work(i, p.server[i])
	if p.slots != nil {
		p.slots[p.server[i]]++
	}
	p.energy -= p.power(i) * w
	from := p.server[i]
	p.server[i] = nowhere
	for _, k := range p.in[from] {
		p.sum[k] -= w
		p.count[k]--
		if p.sharing == Equal && w >= p.most[k] {
			p.most[k] = p.largest(k)
		}
	}
}

// nowhere is the server of a task that is not placed.
const nowhere = -1

// largest returns the largest work of a limit's tasks.
func (p *placing) largest(limit int32) (most float64) {
	for i, s := range p.server {
		if s != nowhere && slices.Contains(p.in[s], limit) {
			most = max(most, p.work(i, s))
		}
	}
	return most
}

// timeOf returns how long a limit's last task runs with another task of some work in it, on what the limit allows; 0
// for none.
func (p *placing) timeOf(limit int32, more float64) float64 {
	allowed := p.Limits[limit].Most
	if p.sharing == Proportional {
		return (p.sum[limit] + more) / allowed
	}
	n := p.count[limit]
	if more > 0 {
		n++
	}
	return float64(n) * max(p.most[limit], more) / allowed
}

// time returns how long the last task on a server runs.
func (p *placing) time(server int32) float64 { return p.with(0, server) }

// last returns when the last of the tasks that are placed ends: the longest that a limit has work for.
func (p *placing) last() float64 {
	most := 0.0
	for k, sum := range p.sum {
		if sum > 0 && p.Limits[k].Most > 0 {
			most = max(most, p.timeOf(int32(k), 0))
		}
	}
	return most
}

// TaPRA solves the relaxation that may divide tasks (SJS-Relax-LP), puts each task where most of it
// went, reduces energy if that takes too much (REC), and improves the placement by local search
// (algorithms 2 and 3).
func TaPRA(t *Tasks, e Effort) (*Placed, error) {
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	relaxed, err := p.relax(e)
	if err != nil {
		return nil, err
	}
	if err := p.settleAll(func(i int) int32 { return relaxed.server[i] }); err != nil {
		return nil, err
	}
	out, err := p.finish(e)
	if err != nil {
		return nil, err
	}
	out.prove(t, relaxed.price, relaxed.energyPrice)
	out.Exhausted = out.Exhausted || relaxed.Exhausted
	return out, nil
}

// TaPRAFast begins with each task on its most efficient server instead (section 3.4.3.1).
func TaPRAFast(t *Tasks, e Effort) (*Placed, error) {
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	if err := p.settleAll(p.best); err != nil {
		return nil, err
	}
	return p.finish(e)
}

// finish reduces energy, searches, and gives resources.
func (p *placing) finish(e Effort) (*Placed, error) {
	if err := p.reduce(); err != nil {
		return nil, err
	}
	left := e.trials()
	for left > 0 && !e.stopped() && p.better() {
		left--
	}
	out := p.result()
	out.Trials, out.Exhausted = e.trials()-left, left <= 0
	return out, nil
}

// result gives resources to tasks where they are, and proves what the limits that are full prove.
func (p *placing) result() *Placed {
	out := &Placed{Server: p.server, Resource: make([]float64, len(p.Load)), Energy: p.energy}
	for i, s := range p.server {
		if t := p.time(s); t > 0 {
			out.Resource[i] = p.share(i, s, t)
		}
	}
	out.Value, out.Bound = p.last(), math.Inf(-1)
	equal := make([]float64, len(p.Limits))
	for k, l := range p.Limits {
		if l.Most > 0 && p.sum[k]/l.Most >= out.Value*(1-1e-9) {
			equal[k] = 1
		}
	}
	out.prove(p.Tasks, equal, 0)
	return out
}

// share returns what a task gets on a server whose last task runs for t.
func (p *placing) share(i int, server int32, t float64) float64 {
	if p.sharing == Proportional {
		return p.work(i, server) / t
	}
	least := math.Inf(1)
	for _, k := range p.in[server] {
		least = min(least, p.Limits[k].Most/float64(p.count[k]))
	}
	return least
}

// tooMuch reports whether the tasks take more energy than is allowed.
func (p *placing) tooMuch() bool { return p.Energy > 0 && p.energy > p.Energy*(1+1e-12) }

// reduce moves tasks to servers where they take less energy until all take what is allowed, each time
// by the move after which the job ends earliest (REC). A task that moves makes only the limits of its
// new server busier.
func (p *placing) reduce() error {
	for p.tooMuch() {
		least, task, to := math.Inf(1), -1, int32(-1)
		for i := range p.Load {
			from := p.server[i]
			now := p.work(i, from)
			p.take(i)
			rest := p.last()
			for s := range p.in {
				w := p.work(i, int32(s))
				if w >= now*(1-1e-12) || !p.open(int32(s)) {
					continue
				}
				if last := max(rest, p.with(w, int32(s))); last < least {
					least, task, to = last, i, int32(s)
				}
			}
			p.put(i, from)
		}
		if task < 0 { // all are on the best servers with slots
			return &solve.InfeasibleError{Reason: fmt.Sprintf("the tasks take %.6g of energy on the best servers that have "+
				"slots, and %.6g are allowed", p.energy, p.Energy)}
		}
		p.take(task)
		p.put(task, to)
	}
	return nil
}

// better moves one of the tasks that end last to where it ends earliest, if that is earlier; energy
// stays allowed.
func (p *placing) better() bool {
	last := p.last()
	for i := range p.Load {
		from := p.server[i]
		if p.Load[i] == 0 || p.time(from) < last*(1-1e-9) {
			continue
		}
		p.take(i)
		least, to := last*(1-gained), int32(-1)
		for s := range p.in {
			w := p.work(i, int32(s))
			if math.IsInf(w, 1) || !p.open(int32(s)) ||
				p.Energy > 0 && p.energy+p.power(i)*w > p.Energy*(1+1e-12) {
				continue
			}
			if t := p.with(w, int32(s)); t < least {
				least, to = t, int32(s)
			}
		}
		if to >= 0 {
			p.put(i, to)
			return true
		}
		p.put(i, from)
	}
	return false
}

// relaxedTasks is an answer to SJS-Relax-LP, rounded.
type relaxedTasks struct {
	solve.Certificate
	server      []int32
	price       []float64
	energyPrice float64
}

// parts is the program: minimise T such that the parts of each task add up to one, no limit's work is
// above T times what it allows, and energy is kept. Since a part has just the resources that its time
// needs, its load and its resources are one variable. Row i is task i's, then come the limits', then
// that of energy.
type parts struct {
	*placing
	unit, most float64
	of         [][2]int32 // by column: task and server
}

// add makes a column of a task on a server.
func (q *parts) add(i int, s int32) solve.Column {
	q.of = append(q.of, [2]int32{int32(i), s})
	return q.column(i, s)
}

func (q *parts) column(i int, s int32) solve.Column {
	n := len(q.Load)
	w := q.work(i, s) / q.unit
	c := solve.Column{Row: []int32{int32(i)}, Coef: []float64{1}}
	for _, k := range q.in[s] {
		c.Row, c.Coef = append(c.Row, int32(n)+k), append(c.Coef, w/(q.Limits[k].Most/q.most))
	}
	if q.Energy > 0 {
		c.Row, c.Coef = append(c.Row, int32(n+len(q.Limits))), append(c.Coef, q.power(i)*q.work(i, s)/q.Energy)
	}
	return c
}

// Price implements solve.Oracle: for each task the server on which it pays least.
func (q *parts) Price(y []float64, _ bool) (news []solve.Column, slack float64) {
	n := len(q.Load)
	rent := make([]float64, len(q.in)) // by server
	for s, limits := range q.in {
		for _, k := range limits {
			rent[s] -= y[n+int(k)] / (q.Limits[k].Most / q.most)
		}
	}
	for i := range q.Load {
		energy := 0.0
		if q.Energy > 0 {
			energy = -y[n+len(q.Limits)] * q.power(i) / q.Energy * q.unit
		}
		least, at := math.Inf(1), int32(-1)
		for s, w := range q.works[i] {
			if pays := w * (rent[s] + energy); pays < least { // where the task cannot run it is no number, or infinite
				least, at = pays, int32(s)
			}
		}
		if d := least/q.unit - y[i]; d < 0 {
			slack += d
			if d < -1e-9*max(1, math.Abs(y[i])) {
				news = append(news, q.add(i, at))
			}
		}
	}
	return news, slack
}

// rough is a placement without regard to slots, from which the relaxation begins: that of TaPRAFast.
func (p *placing) rough(e Effort) (*placing, error) {
	q := &placing{Tasks: p.Tasks, in: p.in, works: p.works, server: make([]int32, len(p.Load)),
		sum: make([]float64, len(p.Limits)), count: make([]int32, len(p.Limits)), most: make([]float64, len(p.Limits))}
	if err := q.settleAll(p.best); err != nil {
		return nil, err
	}
	for left := e.trials(); left > 0 && !e.stopped() && q.better(); {
		left--
	}
	return q, nil
}

// busiest returns the limit that has work for longest.
func (p *placing) busiest() int {
	most, at := -1.0, 0
	for k, l := range p.Limits {
		if l.Most > 0 && p.sum[k]/l.Most > most {
			most, at = p.sum[k]/l.Most, k
		}
	}
	return at
}

// relax solves SJS-Relax-LP and returns the server of each task's largest part.
func (p *placing) relax(e Effort) (*relaxedTasks, error) {
	n, m := len(p.Load), len(p.Limits)
	q := &parts{placing: p, unit: slices.Max(append([]float64{math.SmallestNonzeroFloat64}, p.Load...))}
	for _, l := range p.Limits {
		q.most = max(q.most, l.Most)
	}
	rows := n + m
	if p.Energy > 0 {
		rows++
	}
	lp := &solve.Linear{Oracle: q, Gap: e.gap(), Right: make([]float64, rows),
		Sense: make([]solve.Sense, rows)}
	last := solve.Column{Cost: 1}
	for k := range p.Limits {
		last.Row, last.Coef = append(last.Row, int32(n+k)), append(last.Coef, -1)
	}
	lp.Columns = append(lp.Columns, last)
	begin, err := p.rough(e)
	if err != nil {
		return nil, err
	}
	lp.Start = slices.Repeat([]int{-1}, rows)
	for i, s := range begin.server {
		lp.Right[i], lp.Sense[i], lp.Start[i] = 1, solve.Equal, len(lp.Columns)
		lp.Columns = append(lp.Columns, q.add(i, s))
	}
	if m > 0 {
		lp.Start[n+begin.busiest()] = 0
	}
	if p.Energy > 0 {
		lp.Right[n+m] = 1
	}
	a, err := lp.Solve()
	if err != nil {
		return nil, err
	}
	r := &relaxedTasks{Certificate: a.Certificate, server: make([]int32, n), price: make([]float64, m)}
	largest := make([]float64, n)
	for j, x := range a.X[1:] {
		if i, s := q.of[j][0], q.of[j][1]; x > largest[i] {
			largest[i], r.server[i] = x, s
		}
	}
	for k, l := range p.Limits {
		if l.Most > 0 {
			r.price[k] = max(0, -a.Y[n+k]) / (l.Most / q.most)
		}
	}
	if p.Energy > 0 {
		r.energyPrice = max(0, -a.Y[n+m]) * q.unit / p.Energy
	}
	return r, nil
}

// Bound returns what prices of limits and of energy prove of all placements, divided ones included:
// what tasks would pay at least, less what the allowed energy is worth, over what the limits are worth.
func (t *Tasks) Bound(price []float64, energy float64) float64 {
	p, err := t.begin()
	if err != nil || len(price) != len(t.Limits) {
		return math.Inf(-1)
	}
	have, need := 0.0, 0.0
	for k, l := range t.Limits {
		have += price[k] * l.Most
	}
	rent := make([]float64, len(p.in))
	for s, limits := range p.in {
		for _, k := range limits {
			rent[s] += price[k]
		}
	}
	for i, works := range p.works {
		least, own := math.Inf(1), energy*t.power(i)
		for s, w := range works {
			if pays := w * (rent[s] + own); pays < least {
				least = pays
			}
		}
		need += least
	}
	if have <= 0 {
		return 0
	}
	return (need - energy*t.Energy) / have
}

// Relax raises the bound of a placement that has solved no relaxation to that of SJS-Relax-LP.
func (out *Placed) Relax(t *Tasks, e Effort) error {
	p, err := t.begin()
	if err != nil {
		return err
	}
	relaxed, err := p.relax(e)
	if err != nil {
		return err
	}
	out.prove(t, relaxed.price, relaxed.energyPrice)
	return nil
}

func (out *Placed) prove(t *Tasks, price []float64, energy float64) {
	if b := t.Bound(price, energy); b > out.Bound {
		out.Bound, out.Price, out.EnergyPrice = b, price, energy
	}
}

// Verify checks a placement without the solver.
func (out *Placed) Verify(t *Tasks) error {
	p, err := t.begin()
	if err != nil {
		return err
	}
	used, last, energy := make([]float64, len(t.Limits)), 0.0, 0.0
	for i, s := range out.Server {
		if p.slots != nil {
			if p.slots[s]--; p.slots[s] < 0 {
				return fmt.Errorf("verify placement: server %d has more tasks than slots", s)
			}
		}
		w := p.work(i, s)
		if math.IsInf(w, 1) {
			return fmt.Errorf("verify placement: task %d cannot run on server %d", i, s)
		}
		for _, k := range p.in[s] {
			used[k] += out.Resource[i]
		}
		energy += t.power(i) * w
		if t.Load[i] > 0 {
			last = max(last, w/out.Resource[i])
		}
	}
	for k, u := range used {
		if u > t.Limits[k].Most*(1+1e-9) {
			return fmt.Errorf("verify placement: %s has %v of %v", t.Limits[k].Name, u, t.Limits[k].Most)
		}
	}
	if t.Energy > 0 && energy > t.Energy*(1+1e-9) {
		return fmt.Errorf("verify placement: it takes %v of energy, and %v are allowed", energy, t.Energy)
	}
	if !same(last, out.Value) {
		return fmt.Errorf("verify placement: the last task ends after %v, not %v", last, out.Value)
	}
	if b := t.Bound(out.Price, out.EnergyPrice); !same(b, out.Bound) {
		return fmt.Errorf("verify placement: its prices prove %v, not %v", b, out.Bound)
	}
	return nil
}

// with returns how long a task of some work would run on a server.
func (p *placing) with(work float64, server int32) float64 {
	most := 0.0
	for _, k := range p.in[server] {
		most = max(most, p.timeOf(k, work))
	}
	return most
}
