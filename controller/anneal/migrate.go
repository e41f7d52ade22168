package anneal

import (
	"math"
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// MigrationCost is what moving the tasks of a running job would cost, and what it has left to send.
type MigrationCost struct {
	Fixed  []bool          // by task: it is not moved
	Resent []pathmap.Bytes // by task: sent already, and to be sent again if it is moved
	Rerun  []float64       // by task: seconds that it has computed, and computes again
	// Remaining returns what a host flow of an edge has left to send.
	Remaining func(edge int, src, dst southbound.HostID) pathmap.Bytes
	// Factor is how many times its cost a move has to gain, in bits: above zero.
	Factor float64
}

// Moved is what Migrate has found.
type Moved struct {
	Hosts        []southbound.HostID // by task
	Tasks        []int32             // that change their hosts, ascending; none: nothing is worth its price
	Gain, Price  int64               // bits a second
	Remaining    float64             // seconds that the job still sends for at its current rates
	Place, Route Count
}

// dear is above every gain: the price of a task of a job that has no time left to earn it.
const dear = int64(1) << 44

// leastGain is the share of what the job is worth from which on a gain is one: below it is the noise of
// the annealer.
const leastGain = 0.01

// Migrate looks for tasks of a running job that are worth being moved. Its flows are not on the
// network; they are laid between the present hosts first, and both levels search from there, each task
// having its price to leave. A price is its cost in bits over the time that the job still sends for, so
// that a move pays if gain × time exceeds Factor × cost. The network state is not to be used
// afterwards.
func (s *NetworkState) Migrate(j *controller.Job, hosts []southbound.HostID, free []int32, parts int,
	migrationCost MigrationCost,
	rng *rand.Rand) Moved {
	s.begin(parts)
	m := &migration{placing: newPlacing(s, j, free), home: hosts, price: make([]int64, len(hosts))}
	out := Moved{Hosts: hosts}
	if len(m.g.edges) == 0 || len(m.hosts) == 0 {
		return out
	}
	var fresh []hostFlowKey
	for t, h := range hosts {
		m.free[h] += m.g.need(t) // put takes it again: the task holds its slots, or has ended
		m.put(t, h, &fresh)
		if !migrationCost.Fixed[t] {
			m.unplaced = append(m.unplaced, t)
		}
	}
	m.open(fresh, s.opt.RouteSteps, rng)
	m.localSearch()
	was := m.placing.Utility()
	out.Remaining = m.remaining(migrationCost.Remaining)
	if len(m.unplaced) == 0 || out.Remaining == 0 {
		return out
	}
	objective := s.net.jobs[m.flow.job].value
	m.setPrices(&migrationCost, out.Remaining, float64(objective))
	o := s.opt
	out.Place = Run(m, Schedule{Restarts: o.Restarts, Steps: o.Steps, Start: o.Start, End: o.End}, rng)
	out.Place.Add(m.improve(rng))
	out.Route = m.counts
	out.Price = m.due()
	out.Gain = m.placing.Utility() - was
	if out.Gain <= out.Price || float64(out.Gain) < leastGain*float64(objective) {
		return out
	}
	out.Hosts = slices.Clone(m.host)
	for t, h := range m.host {
		if h != hosts[t] {
			out.Tasks = append(out.Tasks, int32(t))
		}
	}
	return out
}

// migration is a placing whose tasks stand somewhere, and pay to leave.
type migration struct {
	*placing
	home     []southbound.HostID
	price    []int64 // by task, bits a second
	unplaced []int   // tasks that can be moved
}

// remaining returns how long the job still sends for, in seconds: the time of its slowest host flow at
// its current rate. Consecutive edges take longer, so that a move gains more than estimated.
func (m *migration) remaining(left func(edge int, src, dst southbound.HostID) pathmap.Bytes) float64 {
	most := 0.0
	for i := range m.live {
		b := &m.live[i]
		if rate := m.s.net.rate[b.flow]; rate > 0 {
			bytes := left(m.g.index[b.key.edge], b.key.src, b.key.dst)
			most = max(most, 8*float64(bytes)/float64(rate))
		}
	}
	return most
}

// setPrices sets each task's migration cost. While a task computes again its job makes no progress:
// that costs the job's utility for this time.
func (m *migration) setPrices(migrationCost *MigrationCost, remaining, objective float64) {
	for _, t := range m.unplaced {
		cost := 8*float64(migrationCost.Resent[t]) + migrationCost.Rerun[t]*objective
		m.price[t] = int64(math.Ceil(min(migrationCost.Factor*cost/remaining, float64(dear))))
	}
}

// due is the price of all tasks that stand elsewhere.
func (m *migration) due() (sum int64) {
	for _, t := range m.unplaced {
		if m.host[t] != m.home[t] {
			sum += m.price[t]
		}
	}
	return sum
}

// Utility implements Problem: what everything is worth, less what the moves cost.
func (m *migration) Utility() int64 { return m.placing.Utility() - m.due() }

// Reset implements Problem: every task is at home.
func (m *migration) Reset(_ int, rng *rand.Rand) {
	var fresh []hostFlowKey
	for _, t := range m.unplaced {
		if m.host[t] != m.home[t] {
			m.put(t, -1, &fresh)
		}
	}
	for _, t := range m.unplaced {
		if m.host[t] != m.home[t] {
			m.put(t, m.home[t], &fresh)
		}
	}
	m.open(fresh, m.s.opt.RouteSteps, rng)
	m.journal = m.journal[:0]
}

// Move implements Problem: one task goes to a host with a slot.
func (m *migration) Move(rng *rand.Rand) bool {
	t := m.unplaced[rng.IntN(len(m.unplaced))]
	at := rng.IntN(len(m.hosts))
	for k := range m.hosts {
		if h := m.hosts[(at+k)%len(m.hosts)]; h != m.host[t] && m.free[h] >= m.g.need(t) {
			m.shift(t, h, m.s.opt.RouteSteps, rng)
			return true
		}
	}
	return false
}

// improve lets each task in turn go where it is best for all, and home where that is as good.
func (m *migration) improve(rng *rand.Rand) (count Count) {
	for range m.s.opt.Passes {
		gained := false
		for _, t := range m.unplaced {
			gained = m.try(t, m.home[t], 0, &count, rng) || gained
			for _, h := range m.candidates(t, rng) {
				gained = m.try(t, h, 1, &count, rng) || gained
			}
		}
		m.localSearch()
		if !gained || m.Spent() {
			break
		}
	}
	return count
}

// try moves a task if that gains at least so much.
func (m *migration) try(t int, h southbound.HostID, least int64, count *Count, rng *rand.Rand) bool {
	if m.Spent() || h == m.host[t] || m.free[h] < m.g.need(t) {
		return false
	}
	before := m.Utility()
	m.shift(t, h, 0, rng)
	count.Evaluated++
	if m.Utility() < before+least {
		m.Undo()
		return false
	}
	count.Accepted++
	return true
}
