package topo

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"lightloom/pathmap"
)

// Jellyfish returns a random regular graph of switches (Singla, Hong, Popa, Godfrey: NSDI 2012): each
// switch has hosts hosts, at its first ports, and degree links to other switches; one switch has a link
// fewer if switches × degree is odd. Every link has that rate. All switches are racks and come first.
// The graph is connected, and depends on r alone.
func Jellyfish(switches, degree, hosts int, rate pathmap.BitsPerSecond,
	r *rand.Rand) (*pathmap.Topology, error) {
	switch {
	case switches < 2 || switches > MaxRacks:
		return nil, fmt.Errorf("build Jellyfish: %d switches; take 2 to %d", switches, MaxRacks)
	case degree < 1 || degree >= switches:
		return nil, fmt.Errorf("build Jellyfish: %d links a switch; take 1 to %d, one fewer than switches", degree,
			switches-1)
	case hosts < 0 || hosts > MaxHosts:
		return nil, fmt.Errorf("build Jellyfish: %d hosts a switch; take 0 to %d", hosts, MaxHosts)
	case switches*(degree+2*hosts)/2 > MaxCables:
		return nil, fmt.Errorf("build Jellyfish: more than %d cables; take fewer switches, links or hosts", MaxCables)
	}
	j, err := newJellyfish(switches, degree, r)
	if err != nil {
		return nil, err
	}
	return j.topology(switches*hosts, rate)
}

func newJellyfish(switches, degree int, r *rand.Rand) (*jellyfish, error) {
	const tries = 100 // with 3 links and more, nearly always the first will do; with 1, only two switches can be joined
	for range tries {
		j := &jellyfish{r: r, degree: degree, near: make([][]int32, switches)}
		if j.join() && j.connected() {
			return j, nil
		}
	}
	return nil, errors.New("build Jellyfish: found none that is regular and connected; take more links a switch")
}

type jellyfish struct {
	r      *rand.Rand
	degree int
	near   [][]int32 // neighbours of each switch
	free   []int32   // switches with a free port
}

// join adds links: between random switches with free ports while there are two that are not joined yet,
// and then into links that it takes out, for ports that are left. It reports whether none, or a single
// one, is left at the end.
func (j *jellyfish) join() bool {
	for s := range j.near {
		j.free = append(j.free, int32(s))
	}
	for j.pair() {
	}
	for len(j.free) > 0 {
		a := j.free[0]
		switch left := j.degree - len(j.near[a]); {
		case left == 0:
			j.free = j.free[1:]
		case left == 1 && len(j.free) == 1:
			return true
		case left > 1 && j.insert(a, a):
		case !j.insertAny(a, j.free[1:]):
			return false
		}
	}
	return true
}

// insertAny does insert for a and the first of others that it can be done for.
func (j *jellyfish) insertAny(a int32, others []int32) bool {
	for _, b := range others {
		if len(j.near[b]) < j.degree && j.insert(a, b) {
			return true
		}
	}
	return false
}

// pair joins two switches with free ports, and reports whether it found any.
func (j *jellyfish) pair() bool {
	if len(j.free) < 2 {
		return false
	}
	for range 20 {
		if j.link(j.r.IntN(len(j.free)), j.r.IntN(len(j.free))) {
			return true
		}
	}
	// Few are left to be joined: from a random place, the first that fits.
	n := len(j.free)
	a0, b0 := j.r.IntN(n), j.r.IntN(n)
	for a := range n {
		for b := range n {
			if j.link((a0+a)%n, (b0+b)%n) {
				return true
			}
		}
	}
	return false
}

// link joins the switches at places a and b of free, unless they are one or joined.
func (j *jellyfish) link(a, b int) bool {
	x, y := j.free[a], j.free[b]
	if x == y || j.joined(x, y) {
		return false
	}
	j.add(x, y)
	for _, at := range []int{max(a, b), min(a, b)} {
		if s := j.free[at]; len(j.near[s]) == j.degree {
			j.free[at] = j.free[len(j.free)-1]
			j.free = j.free[:len(j.free)-1]
		}
	}
	return true
}

// insert takes a link between two others out, from a random place the first that fits, and joins its
// ends to a and to b, which can be one. It reports whether there is such a link.
func (j *jellyfish) insert(a, b int32) bool {
	n := len(j.near)
	x0, i0 := j.r.IntN(n), j.r.IntN(j.degree)
	for k := range n {
		x := int32((x0 + k) % n)
		if x == a || x == b || j.joined(a, x) {
			continue
		}
		for i := range j.near[x] {
			y := j.near[x][(i0+i)%len(j.near[x])]
			if y != a && y != b && !j.joined(b, y) {
				j.remove(x, y)
				j.remove(y, x)
				j.add(a, x)
				j.add(b, y)
				return true
			}
		}
	}
	return false
}

func (j *jellyfish) joined(x, y int32) bool {
	for _, n := range j.near[x] {
		if n == y {
			return true
		}
	}
	return false
}

func (j *jellyfish) add(x, y int32) {
	j.near[x] = append(j.near[x], y)
	j.near[y] = append(j.near[y], x)
}

func (j *jellyfish) remove(from, to int32) {
	near := j.near[from]
	for i, n := range near {
		if n == to {
			near[i] = near[len(near)-1]
			j.near[from] = near[:len(near)-1]
			return
		}
	}
}

func (j *jellyfish) connected() bool {
	seen := make([]bool, len(j.near))
	seen[0] = true
	queue := []int32{0}
	for head := 0; head < len(queue); head++ {
		for _, n := range j.near[queue[head]] {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return len(queue) == len(j.near)
}

// topology builds the graph, links in the order of their smaller, then their larger switch's
// neighbours. Hosts are spread evenly: the first switches have one more than the rest where they do not
// come out even.
func (j *jellyfish) topology(hosts int, rate pathmap.BitsPerSecond) (*pathmap.Topology, error) {
	b := pathmap.NewBuilder()
	ports := make([]int32, len(j.near))
	for s := range j.near {
		b.Add(pathmap.Node{Name: fmt.Sprint("s", s), Role: pathmap.ToR, Rack: int32(s)})
		ports[s] = int32(j.hostsOf(s, hosts))
	}
	for s, near := range j.near {
		for _, n := range near {
			if int(n) > s {
				b.Cable(pathmap.NodeID(s), ports[s], pathmap.NodeID(n), ports[n], rate, rate)
				ports[s]++
				ports[n]++
			}
		}
	}
	for s := range j.near {
		for i := range j.hostsOf(s, hosts) {
			addHost(b, s, i, rate)
		}
	}
	return b.Build()
}

// hostsOf is how many of all hosts stand at a switch.
func (j *jellyfish) hostsOf(s, all int) int {
	n := all / len(j.near)
	if s < all%len(j.near) {
		n++
	}
	return n
}
