package flowsim

import (
	"math"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// reference is the obviously right simulator: every flow by itself, all rates anew at every event,
// routes from a picture of the fabric that knows no devices (wire's rules; no delay but the dark time).
type reference struct {
	f      *topo.Fabric
	backup bool // circuit rules have one
	now    time.Duration
	flows  []*referenceFlow
	fair   bool
	pace   map[southbound.CoflowID]time.Duration
	spread map[southbound.CoflowID]southbound.Spread
	extra  map[southbound.HostFlowKey]float64
	ranks  []southbound.Priority
	pairs  map[pair]float64
	out    map[int32]int32 // circuits by input
	lit    map[int32]time.Duration
	ended  map[southbound.HostFlowKey]time.Duration
	spine  map[[2]int32]int // by rack and destination, for packets without a path: what is not wire's
	cut    []bool           // by link
	bytes  []float64        // by link
	lost   map[southbound.HostID]bool

	doubts map[southbound.HostFlowKey]float64 // ns that another simulator's end can be off: see doubtEnd
	doubt  float64                            // the largest of those that have just been
}

type referenceFlow struct {
	key   southbound.HostFlowKey
	pair  pair
	left  float64
	links []pathmap.LinkID
	ok    bool
	late  bool
	cap   float64 // while late
	rate  float64 // bits a second
	wish  float64
	end   time.Duration
	doubt float64 // bytes that another simulator can have more left, or less
}

func newReference(f *topo.Fabric, backup bool) *reference {
	return &reference{f: f, backup: backup, pace: map[southbound.CoflowID]time.Duration{},
		pairs: map[pair]float64{},
		out:   map[int32]int32{}, lit: map[int32]time.Duration{}, ended: map[southbound.HostFlowKey]time.Duration{},
		spine: map[[2]int32]int{}, cut: make([]bool, len(f.Topology.Links())),
		bytes: make([]float64, len(f.Topology.Links())), doubts: map[southbound.HostFlowKey]float64{}}
}

func (w *reference) start(c southbound.CoflowID, rows []row) {
	for i, r := range rows {
		if w.lost[r.src] || w.lost[r.dst] {
			continue
		}
		w.flows = append(w.flows, &referenceFlow{key: key(c, int32(i)), pair: pair{r.src, r.dst, r.tag},
			left: float64(r.size)})
	}
}

func (w *reference) rates(r southbound.Rates) {
	w.fair = r.Fair
	w.ranks = r.Priority
	clear(w.pace)
	w.spread, w.extra = map[southbound.CoflowID]southbound.Spread{}, map[southbound.HostFlowKey]float64{}
	for _, s := range r.Spreads() {
		w.spread[s.Coflow] = s
	}
	for _, x := range r.Extra {
		w.extra[x.HostFlowKey] = float64(x.Rate)
	}
	for _, p := range r.Pace {
		w.pace[p.Coflow] = p.Until
	}
	for _, p := range r.Pairs {
		w.pairs[pair{p.Src, p.Dst, p.Tag}] = float64(p.Rate)
	}
	for _, fl := range w.flows {
		fl.late = false
	}
}

func (w *reference) steer(k southbound.HostFlowKey, tag southbound.Tag) {
	for _, fl := range w.flows {
		if fl.key == k && fl.pair.tag != tag {
			fl.pair.tag, fl.late = tag, false
		}
	}
}

func (w *reference) connect(in, out int32, off bool) {
	if off {
		delete(w.out, in)
		return
	}
	if o, ok := w.out[in]; ok && o == out {
		return
	}
	for i, o := range w.out {
		if o == out {
			delete(w.out, i)
		}
	}
	w.out[in], w.lit[in] = out, w.now+w.f.Spec.Dark
}

func (w *reference) isLit(in int32) bool { _, ok := w.out[in]; return ok && w.lit[in] <= w.now }

// path returns the links of a pair, false where its packets do not arrive.
func (w *reference) path(p pair) ([]pathmap.LinkID, bool) {
	links, ok := w.trace(p)
	for _, l := range links {
		ok = ok && !w.cut[l]
	}
	if !ok {
		return nil, false
	}
	return links, true
}

func (w *reference) trace(p pair) ([]pathmap.LinkID, bool) {
	t, f := w.f.Topology, w.f
	hop := func(links []pathmap.LinkID, n pathmap.NodeID, port int32) []pathmap.LinkID {
		return append(links, t.OutPort(n, port))
	}
	links := hop(nil, f.HostNode[p.src], 0)
	at, dst := f.RackOf(int32(p.src)), f.RackOf(int32(p.dst))
	if p.tag == southbound.TagHold {
		return nil, false
	}
	for n := 0; at != dst; n++ {
		if n > f.Racks {
			return nil, false
		}
		spine := (int(at) + int(dst)) % f.Spec.Spines
		if own, ok := w.spine[[2]int32{at, dst}]; ok {
			spine = own
		}
		switch {
		case p.tag == southbound.TagCircuit && w.isLit(at) && !w.cut[t.OutPort(f.ToRNode[at], f.OCSUplink[at])]:
			links = hop(links, f.ToRNode[at], f.OCSUplink[at])
			at = w.out[at]
			links = hop(links, f.OCSNode, at)
			continue
		case p.tag == southbound.TagCircuit && !w.backup:
			return nil, false
		case p.tag == southbound.TagCircuit:
			spine = 0
		case p.tag >= 1 && int(p.tag) <= f.Spec.Spines:
			spine = int(p.tag) - 1
		}
		links = hop(links, f.ToRNode[at], int32(spinePort(f, spine)))
		links = hop(links, t.Link(links[len(links)-1]).To, dst)
		at = dst
	}
	return hop(links, f.ToRNode[dst], int32(p.dst)%int32(f.HostsPerRack)), true
}

// decide gives every flow its rate for the time from now on.
func (w *reference) decide() {
	over := false
	load := make([]float64, len(w.bytes))
	for _, fl := range w.flows {
		links, ok := w.path(fl.pair)
		if !slices.Equal(links, fl.links) || ok != fl.ok {
			fl.links, fl.ok, fl.late = links, ok, false
		}
		fl.wish = w.wish(fl)
		over = over || math.IsInf(fl.wish, 1)
		for _, l := range fl.links {
			load[l] += fl.wish
			over = over || load[l] > float64(w.f.Topology.Link(l).Capacity)*(1+slack)
		}
	}
	before := make([]float64, len(w.flows))
	for i, fl := range w.flows {
		before[i], fl.rate = fl.rate, fl.wish
	}
	if over {
		w.pour()
	}
	for i, fl := range w.flows {
		fl.doubt += math.Abs(fl.rate-before[i]) / 8e9 * w.doubt
	}
	w.doubt = 0
	for _, fl := range w.flows {
		if w.onPace(fl) && fl.ok && short(fl.rate, fl.wish) {
			fl.late, fl.cap = true, fl.wish
		}
		fl.end = southbound.Never
		if w.onPace(fl) && fl.wish > 0 {
			fl.end = w.pace[fl.key.Coflow]
		} else if fl.rate > 0 {
			fl.end = w.now + time.Duration(math.Ceil(fl.left*8e9/fl.rate*(1-1e-14)))
		}
	}
}

func (w *reference) paced(fl *referenceFlow) bool {
	_, ok := w.pace[fl.key.Coflow]
	_, spread := w.spread[fl.key.Coflow]
	tag := fl.pair.tag
	return (ok || spread) && !w.fair && tag != southbound.TagCircuit && tag != southbound.TagHold
}

func (w *reference) onPace(fl *referenceFlow) bool { return w.paced(fl) && !fl.late }

func (w *reference) wish(fl *referenceFlow) float64 {
	until := w.pace[fl.key.Coflow]
	switch {
	case !fl.ok:
		return 0
	case w.fair:
		return math.Inf(1)
	case !w.paced(fl):
		return w.pairs[fl.pair]
	case fl.late:
		return fl.cap
	}
	if s, ok := w.spread[fl.key.Coflow]; ok {
		fl.late, fl.cap = true, w.extra[fl.key]
		for _, a := range s.From {
			for _, b := range s.To {
				if a.Host == fl.pair.src && b.Host == fl.pair.dst {
					fl.cap += float64(min(a.Rate, b.Rate))
				}
			}
		}
		return fl.cap
	}
	x := w.extra[fl.key]
	switch {
	case until == 0 && x > 0:
		fl.late, fl.cap = true, x
		return fl.cap
	case until == 0:
		return 0
	case until > w.now && x > 0:
		fl.late, fl.cap = true, fl.left*8e9/float64(until-w.now)+x
		return fl.cap
	case until <= w.now:
		fl.late, fl.cap = true, math.Inf(1)
		return fl.cap
	}
	return fl.left * 8e9 / float64(until-w.now)
}

// pour fills flows by priority, the highest first.
func (w *reference) pour() {
	left := make([]float64, len(w.bytes))
	for l := range left {
		left[l] = float64(w.f.Topology.Link(pathmap.LinkID(l)).Capacity)
	}
	for _, fl := range w.flows {
		fl.rate = 0
	}
	for p := southbound.MaxPriority; p >= 0; p-- {
		w.pourOf(uint8(p), left)
	}
}

func (w *reference) priority(fl *referenceFlow) uint8 {
	p := southbound.PriorityOf(w.ranks, fl.key.Coflow)
	return p.Of(fl.key.Row)
}

// pourOf fills all flows of a priority at the same speed; each stops at its wish, or when a link of its
// has nothing left.
func (w *reference) pourOf(p uint8, left []float64) {
	stopped := map[*referenceFlow]bool{}
	for _, fl := range w.flows {
		stopped[fl] = fl.wish == 0 || w.priority(fl) != p
		for _, l := range fl.links {
			stopped[fl] = stopped[fl] || left[l] <= 1e-9*float64(w.f.Topology.Link(l).Capacity)
		}
	}
	for {
		users := make([]float64, len(left))
		step, open := math.Inf(1), false
		for _, fl := range w.flows {
			if !stopped[fl] {
				open = true
				step = min(step, fl.wish-fl.rate)
				for _, l := range fl.links {
					users[l]++
				}
			}
		}
		if !open {
			return
		}
		for l := range left {
			if users[l] > 0 {
				step = min(step, left[l]/users[l])
			}
		}
		step = max(step, 0)
		for _, fl := range w.flows {
			if !stopped[fl] {
				fl.rate += step
				for _, l := range fl.links {
					left[l] -= step
				}
			}
		}
		for _, fl := range w.flows {
			full := fl.rate >= fl.wish*(1-1e-13)
			for _, l := range fl.links {
				full = full || left[l] <= 1e-12*float64(w.f.Topology.Link(l).Capacity)
			}
			stopped[fl] = stopped[fl] || full
		}
	}
}

// run goes on to an instant, all ends included.
func (w *reference) run(to time.Duration) {
	for {
		w.decide()
		next := southbound.Never
		for _, fl := range w.flows {
			next = min(next, fl.end)
		}
		for in := range w.out {
			if w.lit[in] > w.now {
				next = min(next, w.lit[in])
			}
		}
		w.flow(min(next, to))
		if next > to {
			return
		}
	}
}

// flow lets the bytes of the time until an instant pass and ends what is due.
func (w *reference) flow(to time.Duration) {
	type class struct {
		pair
		priority uint8
	}
	due := map[class]bool{}
	for _, fl := range w.flows {
		moved := min(fl.rate*float64(to-w.now)/8e9, fl.left)
		if fl.end <= to {
			moved = fl.left
			if !w.paced(fl) {
				due[class{fl.pair, w.priority(fl)}] = true
			}
		}
		fl.left -= moved
		for _, l := range fl.links {
			w.bytes[l] += moved
		}
	}
	w.now = to
	w.flows = slices.DeleteFunc(w.flows, func(fl *referenceFlow) bool {
		if fl.end > to && !(due[class{fl.pair, w.priority(fl)}] && !w.paced(fl) && fl.left < nothing) {
			return false
		}
		w.ended[fl.key] = to
		w.doubtEnd(fl)
		return true
	})
}

// doubtEnd notes by how much an end can differ between two simulators. Each rounds it up to a nanosecond, from sums of
// its own: one more or less. Others whose rates change then have their old rate that much longer, so that what they
// have left differs; it takes the longer to pass the slower they are in the end.
func (w *reference) doubtEnd(fl *referenceFlow) {
	doubt := 1.0
	if fl.rate > 0 {
		doubt += fl.doubt * 8e9 / fl.rate
	}
	w.doubts[fl.key], w.doubt = doubt, max(w.doubt, doubt)
}
