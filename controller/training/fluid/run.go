package fluid

import (
	"container/heap"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"lightloom/controller/training"
	"lightloom/controller/training/schedule"
	"lightloom/pathmap"
)

// Options are how a workload is run.
type Options struct {
	Network *Network
	Methods map[training.Op]schedule.Method
	Server  int                     // ranks of a server, for hierarchical schedules
	Delay   map[int32]time.Duration // by rank: when it begins; 0 for others
}

// run is one run.
type run struct {
	work    *training.Workload
	options Options
	now     float64 // ns
	order   uint64
	events  events
	links   *sharer
	ranks   []*rank
	places  []map[int32]int32 // by communicator: the place of each rank in it

	instances []*instance
	spare     []int32 // places of instances that have ended
	byKey     map[key]int32
	byPair    map[pairOf]int32
	plans     map[planOf]*plan
	messages  map[pathmap.Bytes]*plan
	arriving  map[float64][]arrival // by latency: messages that were sent in this instant
	err       error
}

// arrival is a message on its way.
type arrival struct{ instance, message int32 }

// event is something that happens: a set of flows has a flow that ends, messages arrive, or a node or a delay ends.
type event struct {
	at       float64
	order    uint64
	set      int32 // -1: none
	since    float64
	arrivals []arrival
	rank     int32
	node     int32 // of rank; -1: its delay
}

// Run runs a workload to its end.
func Run(ctx context.Context, w *training.Workload, o Options) (*training.Outcome, error) {
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("run %s: %w", w.Name, err)
	}
	if o.Network.Ranks != len(w.Ranks) {
		return nil, fmt.Errorf("run %s: it has %d ranks, and the network %d: give as many of both", w.Name, len(w.Ranks),
			o.Network.Ranks)
	}
	if err := fits(w, o); err != nil {
		return nil, fmt.Errorf("run %s: %w", w.Name, err)
	}
	r := &run{work: w, options: o, links: newSharer(o.Network), byKey: map[key]int32{}, byPair: map[pairOf]int32{},
		plans: map[planOf]*plan{}, messages: map[pathmap.Bytes]*plan{}, arriving: map[float64][]arrival{}}
	for _, g := range w.Groups {
		places := map[int32]int32{}
		for p, rank := range g.Ranks {
			places[rank] = int32(p)
		}
		r.places = append(r.places, places)
	}
	for i := range w.Ranks {
		r.ranks = append(r.ranks, newRank(r, int32(i)))
		r.push(event{at: float64(o.Delay[int32(i)]), set: -1, rank: int32(i), node: -1})
	}
	if err := r.loop(ctx); err != nil {
		return nil, fmt.Errorf("run %s: %w", w.Name, err)
	}
	out := &training.Outcome{}
	for i, k := range r.ranks {
		if n := k.progress.Left(); n > 0 {
			return nil, fmt.Errorf("run %s: rank %d never ends %d of its nodes: ranks wait for each other", w.Name, i, n)
		}
		out.Ranks = append(out.Ranks, k.out)
	}
	return out, nil
}

func (r *run) push(e event) {
	e.order = r.order
	r.order++
	heap.Push(&r.events, e)
}

// loop carries out all events, those of one instant together.
func (r *run) loop(ctx context.Context) error {
	for n := 0; len(r.events) > 0 && r.err == nil; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !(r.events[0].at <= float64(training.MostTime)) {
			return training.ErrTooLong
		}
		r.now = max(r.now, r.events[0].at)
		for len(r.events) > 0 && r.events[0].at <= r.now+instant {
			r.happen(heap.Pop(&r.events).(event))
		}
		r.depart()
		r.links.solve(r.now, func(set int32, at float64) {
			r.push(event{at: at, set: set, since: r.now})
		})
	}
	return r.err
}

// depart has what was sent in this instant arrive, the shortest latency first.
func (r *run) depart() {
	for _, latency := range slices.Sorted(maps.Keys(r.arriving)) {
		r.push(event{at: r.now + latency, set: -1, arrivals: r.arriving[latency]})
		delete(r.arriving, latency)
	}
}

func (r *run) happen(e event) {
	switch {
	case e.set >= 0:
		if x := &r.links.sets[e.set]; x.live && x.since == e.since {
			r.links.fire(e.set, r.now, r.sent)
		}
	case e.arrivals != nil:
		for _, a := range e.arrivals {
			r.arrived(a.instance, a.message)
		}
	case e.node < 0:
		r.ranks[e.rank].issue()
	default:
		r.ranks[e.rank].end(e.node)
	}
}

// sent ends a message at its sender. It arrives later.
func (r *run) sent(f flow) {
	x := r.instances[f.instance]
	from, to := x.Messages[f.message].From, x.Messages[f.message].To
	_, latency := r.links.routeOf(x.group[from], x.group[to])
	r.arriving[latency] = append(r.arriving[latency], arrival{f.instance, f.message})
	if n := x.next[f.message]; n >= 0 {
		x.waits[n]--
		r.start(f.instance, n)
	}
	r.done(f.instance, from)
}

// rank runs the nodes of a rank. Of those that could compute, the smallest id is first.
type rank struct {
	*run
	id       int32
	nodes    []training.Node
	progress *training.Progress
	busy     bool
	ordinals []int32 // by node: which of its kind it is
	out      training.RankOutcome
}

func newRank(r *run, id int32) *rank {
	nodes := r.work.Ranks[id].Nodes
	k := &rank{run: r, id: id, nodes: nodes, progress: training.NewProgress(nodes), ordinals: make([]int32, len(nodes)),
		out: training.RankOutcome{Spans: make([]training.Span, len(nodes))}}
	collectives, messages := map[key]int32{}, map[pairOf]int32{}
	for i := range nodes {
		switch n := &nodes[i]; n.Kind {
		case training.Collective:
			c := key{n.Group, n.Op, 0}
			k.ordinals[i] = collectives[c]
			collectives[c]++
		case training.Send, training.Receive:
			p := k.pair(n, 0)
			k.ordinals[i] = messages[p]
			messages[p]++
		}
	}
	return k
}

func (k *rank) pair(n *training.Node, ordinal int32) pairOf {
	if n.Kind == training.Send {
		return pairOf{k.id, n.Peer, n.Tag, ordinal}
	}
	return pairOf{n.Peer, k.id, n.Tag, ordinal}
}

// issue begins what can begin.
func (k *rank) issue() {
	for _, i := range k.progress.Free() {
		n := &k.nodes[i]
		if (n.Kind == training.Compute && !n.CPU && k.busy) || !k.progress.Take(i) {
			continue
		}
		k.out.Spans[i].Start = nanoseconds(k.now)
		if err := k.begin(i, n); err != nil && k.err == nil {
			k.err = fmt.Errorf("%s: %w", k.work.Where(int(k.id), int(i)), err)
		}
	}
}

func (k *rank) begin(i int32, n *training.Node) error {
	switch n.Kind {
	case training.Nothing:
		k.end(i)
	case training.Compute:
		if !n.CPU {
			k.busy = true
			k.out.Compute += n.Duration
		}
		k.push(event{at: k.now + float64(n.Duration), set: -1, rank: k.id, node: i})
	case training.Collective:
		id, err := k.instanceOf(key{n.Group, n.Op, k.ordinals[i]}, n)
		if err != nil {
			return err
		}
		k.join(id, k.places[n.Group][k.id], i)
	default:
		place := int32(0)
		if n.Kind == training.Receive {
			place = 1
		}
		k.join(k.messageOf(k.pair(n, k.ordinals[i]), n), place, i)
	}
	return nil
}

// end ends a node, and begins what waited for it.
func (k *rank) end(i int32) {
	n := &k.nodes[i]
	if n.Kind == training.Compute && !n.CPU {
		k.busy = false
	}
	at := nanoseconds(k.now)
	k.out.Spans[i].End, k.out.End = at, max(k.out.End, at)
	k.progress.End(i)
	k.issue()
}

func nanoseconds(t float64) time.Duration { return time.Duration(math.Round(t)) }

// events implements heap.Interface.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}
