package flowsim

import (
	"cmp"
	"slices"
	"time"

	"lightloom/southbound"
)

// coflow is the rows that were declared together.
type coflow struct {
	id         southbound.CoflowID
	rows       int32
	first, end int32 // rows among the host flows; once all have ended, these may be another's
	live       int32 // rows that have not ended
	pos        int32 // in coflowTable.live
	leg        int32 // its row is this leg, and one; 0: it is a coflow

	named uint64 // setRates of this epoch requests want
	heard uint64 // the check of rates that last met it

	*underWay
}

// underWay is what matters of a coflow only as long as rows of it are live: a run of many coflows needs it
// for those that are live at once.
type underWay struct {
	pace
	order       // the one in force
	want  order // what setRates requests

	priority southbound.Priority

	caps []ceiling // by row; nil: none has one
	legs []int32   // legs of its rows that are under way

	paceLoads
	steady uint64 // not 0: since it was set no row has got another route or regime, or has gone without having ended
	lent
	apart leftSum    // rows that have rates of their own
	table *hostTable // nil until first used

	spreadRows *spreadRows     // nil until first used
	backfilled *backfilledRows // nil until first used
	scattered  bool            // its rows have individual rates, though it may be spread or have extras
}

// kind is the kind of rates last set for a coflow.
type kind uint8

const (
	free    kind = iota // its host flows have the rates of their pairs
	paced               // they end together
	spread              // they have rates by their two hosts
	leveled             // likewise, and all others have the same
)

// order is what rates ask of one coflow. One in force owns its slices, another borrows them.
type order struct {
	kind  kind
	until time.Duration         // the finish instant; 0 holds
	extra []southbound.Extra    // by row
	from  []southbound.HostRate // of a spread, by host
	to    []southbound.HostRate
}

// take makes an order the one in force.
func (co *coflow) take(o *order) {
	co.kind, co.until = o.kind, o.until
	co.extra = append(co.extra[:0], o.extra...)
	co.from, co.to = append(co.from[:0], o.from...), append(co.to[:0], o.to...)
}

// extraOf returns the extra of a row in bits a second.
func (o *order) extraOf(row int32) float64 {
	if len(o.extra) == 0 {
		return 0
	}
	first, end := 0, len(o.extra)
	for first < end {
		if mid := (first + end) / 2; o.extra[mid].Row < row {
			first = mid + 1
		} else {
			end = mid
		}
	}
	if first == len(o.extra) || o.extra[first].Row != row {
		return 0
	}
	return float64(o.extra[first].Rate)
}

// spreadOf returns what a spread gives a host flow between two hosts, in bits a second.
func (o *order) spreadOf(p *pair) float64 {
	return min(hostRate(o.from, p.src), hostRate(o.to, p.dst))
}

func hostRate(rates []southbound.HostRate, h southbound.HostID) float64 {
	i, ok := slices.BinarySearchFunc(rates, h, func(r southbound.HostRate, h southbound.HostID) int {
		return cmp.Compare(r.Host, h)
	})
	if !ok {
		return 0
	}
	return float64(rates[i].Rate)
}

// coflowTable is all coflows, and which of them are live.
type coflowTable struct {
	coflows []coflow
	byID    coflowIndex
	live    []int32 // coflows with host flows that have not ended
	over    []int32 // coflows whose places become spare once no reader can still use them
	spare   spans

	past  underWay    // of all that are over: nothing
	spent []*underWay // for the next ones
}

// coflowIndex is the places of coflows by id. Ids are given one after the other as a rule: these need no hashing.
type coflowIndex struct {
	dense []int32 // the place and one, by id; 0: none
	other map[southbound.CoflowID]int32
}

// Find returns the place of a coflow.
func (x *coflowIndex) Find(id southbound.CoflowID) (place int32, ok bool) {
	if id >= 0 && int64(id) < int64(len(x.dense)) && x.dense[id] > 0 {
		return x.dense[id] - 1, true
	}
	place, ok = x.other[id]
	return place, ok
}

// Set notes the place of a coflow that has none.
func (x *coflowIndex) Set(id southbound.CoflowID, place int32) {
	if id >= 0 && int64(id) < 4*int64(place)+1<<10 {
		for int64(len(x.dense)) <= int64(id) {
			x.dense = append(x.dense, 0)
		}
		x.dense[id] = place + 1
		return
	}
	if x.other == nil {
		x.other = map[southbound.CoflowID]int32{}
	}
	x.other[id] = place
}

// append adds a coflow without live host flows, and returns its index.
func (ct *coflowTable) append(co coflow) int32 {
	co.underWay = &ct.past
	ct.coflows = append(ct.coflows, co)
	return int32(len(ct.coflows) - 1)
}

// reuse returns places for n host flows that were another coflow's, false where there are none.
func (ct *coflowTable) reuse(n int32) (first int32, ok bool) {
	for _, i := range ct.over {
		co := &ct.coflows[i]
		ct.spare.Give(span{First: co.first, End: co.end})
		co.first, co.end = 0, 0
	}
	ct.over = ct.over[:0]
	return ct.spare.Take(n)
}

// revive puts a coflow with the given number of rows on the list of those with live host flows.
func (ct *coflowTable) revive(index, rows int32, now time.Duration) {
	co := &ct.coflows[index]
	co.pos, co.live = int32(len(ct.live)), rows
	ct.live = append(ct.live, index)
	if n := len(ct.spent); n > 0 {
		co.underWay, ct.spent = ct.spent[n-1], ct.spent[:n-1]
	} else {
		co.underWay = new(underWay)
	}
	co.pace = pace{at: now, factor: 1}
}

// unlive takes a coflow off it.
func (ct *coflowTable) unlive(index int32) {
	co := &ct.coflows[index]
	ct.coflows[takeOut(&ct.live, co.pos)].pos = co.pos
	co.live = 0
	*co.underWay = underWay{}
	ct.spent = append(ct.spent, co.underWay)
	co.underWay = &ct.past
}
