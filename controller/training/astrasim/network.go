package astrasim

import (
	"fmt"
	"math"

	"lightloom/southbound/yamlfile"
)

// Network is what ASTRA-sim's analytical network file says: each NPU has a place in each dimension, the first of which
// counts fastest.
type Network struct {
	Topology  []string  `yaml:"topology"`   // by dimension: Ring, Switch or FullyConnected
	NPUs      []int     `yaml:"npus_count"` // by dimension
	Bandwidth []float64 `yaml:"bandwidth"`  // of a link, GB/s; a GB is 2³⁰ bytes here
	Latency   []float64 `yaml:"latency"`    // of a link, ns
}

// MostNPUs bounds the NPUs of a network.
const MostNPUs = 1 << 14

// leastBandwidth is of a link, in GB/s: no slower one carries training.
const leastBandwidth = 1e-6

// ReadNetwork reads a network file, in YAML.
func ReadNetwork(name string, data []byte) (*Network, error) {
	var n Network
	f, err := yamlfile.Decode(name, data, &n)
	if err != nil {
		return nil, fmt.Errorf("read network: %w", err)
	}
	if at, err := n.check(); err != nil {
		return nil, fmt.Errorf("read network: %w", f.At(at, err))
	}
	return &n, nil
}

func (n *Network) check() (yamlfile.Keys, error) {
	dims := len(n.Topology)
	if dims == 0 {
		return yamlfile.Keys{"topology"}, fmt.Errorf("there is no topology: write topology: [ Ring ]")
	}
	for _, list := range []struct {
		key  string
		have int
	}{{"npus_count", len(n.NPUs)}, {"bandwidth", len(n.Bandwidth)}, {"latency", len(n.Latency)}} {
		if list.have != dims {
			return yamlfile.Keys{list.key}, fmt.Errorf("it has %d values, and topology has %d dimensions: write one each",
				list.have, dims)
		}
	}
	total := 1
	for d := range dims {
		switch n.Topology[d] {
		case "Ring", "Switch", "FullyConnected":
		default:
			return yamlfile.Keys{"topology", d},
				fmt.Errorf("there is no %.40q: write Ring, Switch or FullyConnected", n.Topology[d])
		}
		if n.NPUs[d] < 2 || n.NPUs[d] > MostNPUs {
			return yamlfile.Keys{"npus_count", d}, fmt.Errorf("%d is not within 2 to %d", n.NPUs[d], MostNPUs)
		}
		if !(n.Bandwidth[d] >= leastBandwidth) || math.IsInf(n.Bandwidth[d], 0) {
			return yamlfile.Keys{"bandwidth", d}, fmt.Errorf("%v is no bandwidth: write GB/s, at least %v, "+
				"such as 50", n.Bandwidth[d], leastBandwidth)
		}
		if !(n.Latency[d] >= 0) || n.Latency[d] > mostDelay {
			return yamlfile.Keys{"latency", d}, fmt.Errorf("%v is no latency: write ns, such as 500", n.Latency[d])
		}
		if total *= n.NPUs[d]; total > MostNPUs {
			return yamlfile.Keys{"npus_count"}, fmt.Errorf("these are more than %d NPUs", MostNPUs)
		}
	}
	return nil, nil
}

// Size returns the number of NPUs.
func (n *Network) Size() int {
	total := 1
	for _, k := range n.NPUs {
		total *= k
	}
	return total
}

// transport carries messages between NPUs.
type transport interface {
	// send sends size bytes, and calls arrived when they are there.
	send(from, to int32, size int64, arrived func())
}

// place is where two NPUs differ in one dimension, the way between them along it.
type place struct {
	dim      int
	stride   int32 // between neighbours in this dimension
	from, to int32 // their places in it
}

// next returns the first dimension in which two NPUs differ.
func (n *Network) next(from, to int32) place {
	stride := int32(1)
	for d, size := range n.NPUs {
		a, b := from/stride%int32(size), to/stride%int32(size)
		if a != b {
			return place{d, stride, a, b}
		}
		stride *= int32(size)
	}
	return place{dim: -1}
}

// rate returns the bandwidth of a dimension's links, in bytes a ns.
func (n *Network) rate(dim int) float64 { return n.Bandwidth[dim] * float64(1<<30) / 1e9 }

// unaware is the network in which messages do not meet: a message takes the latency of its hops and the time of its
// bytes, in the first dimension in which its ends differ.
type unaware struct {
	n *Network
	q *queue
}

func (u *unaware) send(from, to int32, size int64, arrived func()) {
	p := u.n.next(from, to)
	delay := float64(u.n.hops(p))*u.n.Latency[p.dim] + float64(size)/u.n.rate(p.dim)
	u.q.at(u.q.after(delay), arrived)
}

// hops returns the links between two places of a dimension.
func (n *Network) hops(p place) int32 {
	switch n.Topology[p.dim] {
	case "Ring":
		size := int32(n.NPUs[p.dim])
		ahead := (p.to - p.from + size) % size
		return min(ahead, size-ahead)
	case "Switch":
		return 2
	}
	return 1
}

// aware is the network whose links carry one message at a time, whole, in the order in which they come. Between NPUs
// that differ in several dimensions a message goes through one after the other.
type aware struct {
	n     *Network
	q     *queue
	links map[[2]int32]*link // by device; NPUs first, then switches
}

// link is one direction of a cable.
type link struct {
	q       *queue
	rate    float64 // bytes a ns
	latency float64 // ns
	busy    bool
	waiting []*message
}

// message is on its way over links, of which it waits for or uses the one at place at.
type message struct {
	size    int64
	route   []*link
	at      int
	arrived func()
}

func (a *aware) send(from, to int32, size int64, arrived func()) {
	m := &message{size: size, arrived: arrived}
	for _, h := range a.n.Hops(from, to) {
		m.route = append(m.route, a.link(h.Dimension, h.From, h.To))
	}
	m.route[0].send(m)
}

// Hop is a link on the way of a message, between devices: NPUs first, then switches.
type Hop struct {
	Dimension int
	From, To  int32
}

// Hops returns the way between two NPUs: through one dimension after the other, the shorter way round a ring, forwards
// where both are as long.
func (n *Network) Hops(from, to int32) []Hop {
	var out []Hop
	for from != to {
		out, from = n.hop(out, from, n.next(from, to))
	}
	return out
}

// hop adds the links of one dimension to a way, and returns the NPU that it leads to.
func (n *Network) hop(out []Hop, from int32, p place) ([]Hop, int32) {
	to := from + (p.to-p.from)*p.stride
	switch n.Topology[p.dim] {
	case "Switch":
		sw := int32(n.Size()*(p.dim+1)) + from - p.from*p.stride
		return append(out, Hop{p.dim, from, sw}, Hop{p.dim, sw, to}), to
	case "FullyConnected":
		return append(out, Hop{p.dim, from, to}), to
	}
	size, step := int32(n.NPUs[p.dim]), int32(1)
	if ahead := (p.to - p.from + size) % size; size-ahead < ahead {
		step = size - 1
	}
	for at := p.from; at != p.to; {
		next := (at + step) % size
		out = append(out, Hop{p.dim, from + (at-p.from)*p.stride, from + (next-p.from)*p.stride})
		at = next
	}
	return out, to
}

func (a *aware) link(dim int, from, to int32) *link {
	k := [2]int32{from, to}
	l := a.links[k]
	if l == nil {
		l = &link{q: a.q, rate: a.n.rate(dim), latency: a.n.Latency[dim]}
		a.links[k] = l
	}
	return l
}

func (l *link) send(m *message) {
	if l.busy {
		l.waiting = append(l.waiting, m)
		return
	}
	l.begin(m)
}

// begin sends a message: its arrival comes before the end of the link's work where both are at one instant.
func (l *link) begin(m *message) {
	l.busy = true
	took := float64(m.size) / l.rate
	l.q.at(l.q.after(l.latency+took), m.hop)
	l.q.at(l.q.after(took), l.free)
}

// hop is called at the end of a link.
func (m *message) hop() {
	if m.at++; m.at == len(m.route) {
		m.arrived()
		return
	}
	m.route[m.at].send(m)
}

func (l *link) free() {
	l.busy = false
	if len(l.waiting) == 0 {
		return
	}
	m := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.begin(m)
}
