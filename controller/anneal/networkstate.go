package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Options are the settings of both levels. The zero value of a field means its default.
type Options struct {
	// Paper keeps to Algorithms 1 to 3 as printed: the printed temperatures, random first states, tasks
	// drawn by their weights alone, all routes of the job drawn anew at every step of the upper level, the
	// longest and narrowest route taken away and the shortest and widest given, no last pass, and a sink
	// worth its worst route however many pairs of tasks share it (see Shared). What the document leaves
	// out is as by default: steps, slots, and changing places on full hosts.
	Paper bool

	// Shared reads “min bandwidth in path” of mode paper the other way: the pairs of tasks between two
	// hosts share it, as they do by default.
	Shared bool

	// Explain has Place and Route keep their reasons, which takes about as long again as deciding.
	Explain bool

	// Blind leaves the lower level away: every host flow takes a path drawn at random and stays there.
	Blind bool

	Restarts   int     // of the upper level, in mode paper of both; default 5, as printed
	Steps      int     // of the upper level in each restart; default 100
	RouteSteps int     // of the lower level at each of those; default 50. Routes on their own get four times as many
	Uniform    float64 // share of moves that pick the task or flow uniformly; default 0.3. Below zero: none
	// share of moves that look for a host in the rack of a task it talks to; default 0.3. Below zero: none
	Near       float64
	Start, End float64 // first and last temperature, see Schedule; default 0.1 and 0.001
	Passes     int     // rounds at most of the last pass, in which each task and flow takes its best; default 3
	// flows visited before a decision ends where it is; default 20 million, about 0.1 s, and Restarts times that in
	// mode paper, whose lower level does so many times as much; a restart of mode paper can do as much again (0210)
	Work int64
	// Route lays every flow before Work begins to count: where Work is little, laying alone could use it up.
	LayFirst bool
}

const usualWork = 20e6

func (o Options) withDefaults() Options {
	set := func(p *int, d int) {
		if *p == 0 {
			*p = d
		}
	}
	set(&o.Restarts, 5)
	set(&o.Steps, 100)
	set(&o.RouteSteps, 50)
	set(&o.Passes, 3)
	share := func(p *float64, d float64) {
		if *p == 0 {
			*p = d
		}
		*p = max(*p, 0)
	}
	share(&o.Uniform, 0.3)
	share(&o.Near, 0.3)
	share(&o.Start, 0.1)
	share(&o.End, 0.001)
	if o.Work == 0 {
		o.Work = usualWork
		if o.Paper {
			o.Work *= int64(o.Restarts)
		}
	}
	if o.Paper {
		o.Uniform, o.Near = 0, 0
	}
	return o
}

// NetworkState is the network at one decision: what runs on it, and what the decision has put there so far.
type NetworkState struct {
	topology *TopologyContext
	opt      Options
	net      *network
	end      int64     // of work, for the decision at hand
	later    *deferral // nil: flows change their paths at once
	why      []FlowWhy
}

// NewNetworkState returns the empty network of a topology context.
func NewNetworkState(g *TopologyContext, opt Options) *NetworkState {
	opt = opt.withDefaults()
	return &NetworkState{topology: g, opt: opt,
		net: newNetwork(g.capacity, opt.Paper && !opt.Shared, g.cache.takeSpare())}
}

// Release has other networks on the same cache use the memory of this one, which is not used any more.
func (s *NetworkState) Release() {
	s.topology.cache.putSpare(s.net)
	s.net = nil
}

// Expect makes room for as many host flows.
func (s *NetworkState) Expect(hostFlows int) { s.net.expect(hostFlows) }

// HostFlow is one connection between two hosts.
type HostFlow struct {
	Src, Dst southbound.HostID
	Flows    int32 // pairs of tasks that it holds; 0 means 1
}

// Coflow is the host flows of one edge, sorted by (Dst, Src).
type Coflow struct {
	Rows []HostFlow
	Of   *Dataflow // the job's; nil: it belongs to no graph, and every receiver is a sink
	Edge int       // of the job
	// Hints are the path map's indexes to begin with, by row; nil, or a negative one: none. For Route.
	Hints []int
}

// Run adds host flows of one coflow on fixed links (host links included), which are not to be moved; a
// nil links[i] leaves row i out. It returns the flows by row, -1 for a row that is left out.
func (s *NetworkState) Run(c Coflow, links [][]pathmap.LinkID) []int32 {
	if c.Of == nil {
		c.Of, c.Edge = s.bare(lit(c.Rows, links)), 0
	}
	flows := make([]int32, len(c.Rows))
	for i := range c.Rows {
		if flows[i] = -1; links[i] != nil {
			flows[i] = s.addFlow(&c, i)
			s.net.lay(flows[i], links[i])
		}
	}
	return flows
}

// lit returns the rows that have links.
func lit(rows []HostFlow, links [][]pathmap.LinkID) []HostFlow {
	out := make([]HostFlow, 0, len(rows))
	for i := range rows {
		if links[i] != nil {
			out = append(out, rows[i])
		}
	}
	return out
}

func (s *NetworkState) addFlow(c *Coflow, row int) int32 {
	f := s.net.addFlow(c.Of.group(s, c.Edge, c.Rows[row].Dst))
	s.net.flows[f].pairs = max(c.Rows[row].Flows, 1)
	return f
}

// Utility returns the utility of everything on the network, in bits a second.
func (s *NetworkState) Utility() int64 { return s.net.value() }

// begin allows a part of the work of a decision.
func (s *NetworkState) begin(parts int) { s.end = s.net.work + s.opt.Work/int64(parts) }

// clone returns a network state that changes by itself, with a part of the work of a decision before it.
func (s *NetworkState) clone(parts int) *NetworkState {
	c := &NetworkState{topology: s.topology, opt: s.opt, net: s.net.clone(s.topology.cache.takeSpare())}
	c.begin(parts)
	return c
}

func (s *NetworkState) spent() bool { return s.net.work >= s.end }

// Route chooses candidate paths for host flows of new coflows and leaves them on the network. The
// answer is the path map's indexes, by coflow and row.
func (s *NetworkState) Route(coflows []Coflow, rng *rand.Rand) ([][]int, Count) {
	s.begin(1)
	r := s.take(coflows)
	r.lay(rng)
	if s.opt.LayFirst {
		s.begin(1)
	}
	if s.opt.Blind {
		s.keepReasons(r, coflows)
		return r.answer(coflows), Count{}
	}
	steps := 4 * s.opt.RouteSteps
	if s.opt.Paper {
		steps = s.opt.RouteSteps
	}
	count := r.anneal(s.opt.Restarts, min(steps, 16*len(r.choices)), rng)
	count.Add(r.localSearch())
	s.keepReasons(r, coflows)
	return r.answer(coflows), count
}

// keepReasons keeps why host flows take the paths they do, if Explain is set.
func (s *NetworkState) keepReasons(r *routing, coflows []Coflow) {
	if s.opt.Explain {
		s.why = r.explain(coflows)
	}
}

// Why returns why the host flows of the last Route take the paths they do, where Options.Explain is set.
func (s *NetworkState) Why() []FlowWhy { return s.why }

// Spread is Route without annealing: each host flow in turn takes the path on which it gets most.
func (s *NetworkState) Spread(coflows []Coflow, rng *rand.Rand) [][]int {
	r := s.take(coflows)
	r.lay(rng)
	return r.answer(coflows)
}

func (s *NetworkState) take(coflows []Coflow) *routing {
	r := newRouting(s)
	for _, c := range coflows {
		if c.Of == nil {
			c.Of, c.Edge = s.bare(c.Rows), 0
		}
		for i, b := range c.Rows {
			ch := choice{flow: s.addFlow(&c, i), src: b.Src, dst: b.Dst,
				candidates: s.topology.Candidates(b.Src, b.Dst), at: -1}
			if c.Hints != nil {
				ch.at = int32(slices.IndexFunc(ch.candidates,
					func(w Candidate) bool { return w.Path == c.Hints[i] }))
			}
			r.take(ch)
		}
	}
	return r
}

func (r *routing) answer(coflows []Coflow) [][]int {
	out := make([][]int, len(coflows))
	k := 0
	for c := range coflows {
		out[c] = make([]int, len(coflows[c].Rows))
		for i := range out[c] {
			out[c][i] = r.all[k].current().Path
			k++
		}
	}
	return out
}
