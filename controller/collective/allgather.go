package collective

import (
	"cmp"
	"slices"
	"time"

	"lightloom/pathmap"
)

// effort is how many sends all attempts at one all-gather may have. An 8×8×8 torus with one chunk a node has 261,632,
// so it is planned twice at most, and small networks up to attempts times.
const (
	effort   = 600_000
	attempts = 24
	large    = 100_000 // sends from which links weigh chunks against each other only at the end
)

// AllGather returns a schedule that brings so many chunks of each node, of so many bytes, to all others, and what none
// is below. Attempts differ in how many chunks a link weighs against each other, in which of equal links begins, and in
// whether links wait for what is about to arrive; the first one at a bound ends them.
func AllGather(n *Network, chunks int, bytes pathmap.Bytes) (*Schedule, Bounds, error) {
	if err := checkChunks(n, chunks, bytes); err != nil {
		return nil, Bounds{}, err
	}
	bounds := n.bounds((n.Nodes-1)*chunks, chunks, bytes)
	g := newGather(n, chunks, bytes, n.Nodes*(n.Nodes-1)*chunks)
	best := &Schedule{Kind: KindAllGather, Chunks: chunks, Bytes: bytes, Ends: pathmap.MaxDuration}
	for _, a := range g.attempts() {
		g.reset(a)
		if !g.run() {
			continue
		}
		if a.hold && !n.Hold {
			g.compact()
		}
		if g.ends < best.Ends {
			best.Ends = g.ends
			best.Sends, g.sends = g.sends, best.Sends
		}
		g.giveUp = best.Ends
		if best.Ends <= bounds.Best() {
			break
		}
	}
	return best, bounds, nil
}

// attempt is one way to go about an all-gather.
type attempt struct {
	width   int    // of how many chunks a link takes the one that the fewest nodes have
	mixed   bool   // the last third of one chunk a node is drawn
	turn    uint32 // which of equal links begins
	hold    bool   // links are busy for their latency: in step, they see all that has arrived before they choose
	patient bool   // leave a slow link idle where faster ones will have brought all before it has brought one
}

// attempts returns what is tried.
func (g *gather) attempts() []attempt {
	widths := []int{4, 1, 8, 2, g.chunks, 16}
	big := g.undoneAtFirst() > large
	if big {
		widths = []int{1}
	}
	uniform, late := g.net.uniform()
	var out []attempt
	for i := range min(attempts, max(1, effort/max(1, g.undoneAtFirst()))) {
		a := attempt{width: widths[i/2%len(widths)], mixed: big, turn: uint32(i)}
		switch {
		case !uniform:
			a.patient, a.hold = i%2 == 0, i/2%2 == 1
		case g.net.Hold || late == 0:
			a.width = widths[i%len(widths)]
		default:
			a.hold = !big && i%2 == 0 == (8*late < g.taken[0])
		}
		out = append(out, a)
	}
	return out
}

// uniform reports whether all links are alike, and returns their latency.
func (n *Network) uniform() (alike bool, latency time.Duration) {
	for _, l := range n.Links {
		if l.Rate != n.Links[0].Rate || l.Latency != n.Links[0].Latency {
			return false, 0
		}
		latency = l.Latency
	}
	return true, latency
}

// compact lets each send begin as soon as its link is free and its chunk has arrived, in the same order by link.
func (g *gather) compact() {
	free := make([]time.Duration, len(g.net.Links))
	came := make([]time.Duration, g.net.Nodes*g.chunks)
	g.ends = 0
	for i := range g.sends {
		x := &g.sends[i]
		l := g.net.Links[x.Link]
		x.At = max(free[x.Link], came[int(l.From)*g.chunks+int(x.Chunk)])
		free[x.Link] = x.At + g.taken[x.Link]
		arrives := x.At + g.arrives[x.Link]
		came[int(l.To)*g.chunks+int(x.Chunk)] = arrives
		g.ends = max(g.ends, arrives)
	}
	slices.SortStableFunc(g.sends, func(a, b Send) int { return cmp.Compare(a.At, b.At) })
}
