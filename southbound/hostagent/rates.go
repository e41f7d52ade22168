package hostagent

import (
	"math"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Payload of a full Ethernet frame at MTU 1500 and the frame itself: rates are given at layer 2,
// sockets are paced by payload.
const (
	framePayload = 1448
	frameBytes   = 1514
)

// payload turns a layer-2 rate into bytes of payload a second; 0 stays 0.
func payload(r pathmap.BitsPerSecond) float64 { return float64(r) / 8 * framePayload / frameBytes }

// unlimited is the rate of a sender that nothing holds back.
var unlimited = math.Inf(1)

// class is what a PairRate names.
type class struct {
	src, dst southbound.HostID
	tag      southbound.Tag
}

// rateTable is the rates of the last call.
type rateTable struct {
	fair  bool
	pace  map[southbound.CoflowID]time.Duration
	fan   map[southbound.CoflowID]*spreadRates
	extra map[southbound.HostFlowKey]float64
	pairs map[class]float64 // payload bytes a second, as all rates here
	ranks []southbound.Priority
}

// spreadRates is a spread: what each host flow may send at most, by source and by destination.
type spreadRates struct {
	from, to map[southbound.HostID]float64
}

func newSpreadRates(s *southbound.Spread) *spreadRates {
	f := &spreadRates{from: make(map[southbound.HostID]float64, len(s.From)),
		to: make(map[southbound.HostID]float64, len(s.To))}
	for _, r := range s.From {
		f.from[r.Host] = payload(r.Rate)
	}
	for _, r := range s.To {
		f.to[r.Host] = payload(r.Rate)
	}
	return f
}

func newRateTable() rateTable {
	return rateTable{pace: map[southbound.CoflowID]time.Duration{},
		fan:   map[southbound.CoflowID]*spreadRates{},
		extra: map[southbound.HostFlowKey]float64{}, pairs: map[class]float64{}}
}

// set takes rates; with onlyPairs, all but pairs stays.
func (t *rateTable) set(r *southbound.Rates, onlyPairs bool) {
	if !onlyPairs {
		t.fair, t.ranks = r.Fair, t.ranks[:0]
		for _, p := range r.Priority {
			p.Low = slices.Clone(p.Low)
			t.ranks = append(t.ranks, p)
		}
		clear(t.pace)
		for _, p := range r.Pace {
			t.pace[p.Coflow] = p.Until
		}
		clear(t.fan)
		for _, s := range r.Spreads() {
			t.fan[s.Coflow] = newSpreadRates(&s)
		}
		clear(t.extra)
		for _, e := range r.Extra {
			t.extra[e.HostFlowKey] = payload(e.Rate)
		}
	}
	for _, p := range r.Pairs {
		t.pairs[class{p.Src, p.Dst, p.Tag}] = payload(p.Rate)
	}
}

// forgetPairs drops an earlier leader's rates of pairs: a new leader derives every rate again and does
// not know the old ones.
func (t *rateTable) forgetPairs() { clear(t.pairs) }

// paces reports whether a coflow has a pace, so that what is left of it decides its rates.
func (t *rateTable) paces(c southbound.CoflowID) bool { return !t.fair && t.pace[c] > 0 }

// grant is how a host flow may send.
type grant struct {
	rate  float64       // payload bytes a second; 0 holds
	fair  bool          // rate is a line rate, to be shared with others by TCP
	until time.Duration // of a pace; else 0
	prio  uint8         // strict, of its packets
}

// grant returns what a host flow may do now. circuit is whether its tag is one's, left is its payload yet to
// be received, lineRate the slowest line of its path in payload bytes a second (0: not known).
//
// A host flow follows its coflow's pace or spread if it has one and is on packets, else its class; what
// neither names holds. An extra comes on top, and fixes what the pace gives now until rates are set
// again.
func (t *rateTable) grant(b southbound.HostFlowKey, cl class, circuit bool, left float64,
	now time.Duration, lineRate float64) grant {
	if cl.tag == southbound.TagHold {
		return grant{}
	}
	if lineRate <= 0 {
		lineRate = unlimited
	}
	if t.fair {
		p := southbound.PriorityOf(t.ranks, b.Coflow)
		return grant{rate: lineRate, fair: true, prio: p.Of(b.Row)}
	}
	until, paced := t.pace[b.Coflow]
	fan, extra := t.fan[b.Coflow], t.extra[b]
	switch {
	case !paced && fan == nil || circuit:
		return grant{rate: min(t.pairs[cl], lineRate)}
	case fan != nil:
		return grant{rate: min(min(fan.from[cl.src], fan.to[cl.dst])+extra, lineRate)}
	case until == 0:
		return grant{rate: min(extra, lineRate)}
	case extra > 0:
		return grant{rate: min(paceRate(left, until, now)+extra, lineRate)}
	default:
		return grant{rate: min(paceRate(left, until, now), lineRate), until: until}
	}
}

// paceFloor is the shortest time over which a pace is spread: what is late is sent fast, not in one burst.
const paceFloor = time.Millisecond

// paceRate is the rate that ends at until. One segment is left at least: a host flow whose connection
// breaks at its end may have to send more, and a rate of nothing would hold it.
func paceRate(left float64, until, now time.Duration) float64 {
	return max(left, framePayload) / max(until-now, paceFloor).Seconds()
}

// catchUp bounds how far a pace that lags may exceed what it was granted: other traffic was given the rest.
const catchUp = 1.25

// follow returns the present rate of a pace; granted was its rate when it was set.
func (g grant) follow(left float64, now time.Duration) float64 {
	return min(paceRate(left, g.until, now), catchUp*g.rate)
}
