package flowsim

import "lightloom/pathmap"

// linkTable is the links of the fabric and, behind them, the doors of host flows with caps (see ceiling).
type linkTable struct {
	capacity []float64        // by link, bits a second
	most     []float64        // by link of the fabric: what may be asked of it before it counts as overloaded
	payload  []pathmap.Bytes  // by link of the fabric, of what has been posted
	wide     []bool           // by link of the fabric: the hosts behind it cannot exceed its capacity
	narrow   bool             // no link is wide
	flat     bool             // only links of hosts bind
	up       []pathmap.LinkID // by host
	fastest  float64          // capacity of any link, bits a second
	doors    []pathmap.LinkID // free ones
}

func newLinkTable(links []pathmap.Link) linkTable {
	lt := linkTable{capacity: make([]float64, len(links)), payload: make([]pathmap.Bytes, len(links)),
		wide: make([]bool, len(links))}
	for l := range links {
		lt.capacity[l] = float64(links[l].Capacity)
		lt.most = append(lt.most, lt.capacity[l]*(1+slack))
		lt.fastest = max(lt.fastest, lt.capacity[l])
	}
	return lt
}

// capped reports whether there are doors besides the links of the fabric.
func (lt *linkTable) capped() bool { return len(lt.capacity) > len(lt.wide) }

// tighten finds which links of a route can hold a host flow back.
func (lt *linkTable) tighten(r *route) {
	if lt.narrow && !r.capped {
		return // all can
	}
	r.tight = r.tight[:0]
	for _, l := range r.links() {
		if !lt.wide[l] {
			r.tight = append(r.tight, l)
		}
	}
	if r.capped {
		r.tight = append(r.tight, r.door)
	}
}

// tight returns the links of a route that can hold a host flow back. Borrowed until it is led elsewhere.
func (lt *linkTable) tight(r *route) []pathmap.LinkID {
	if lt.narrow && !r.capped {
		return r.links()
	}
	return r.tight
}

// hostsBind reports whether the links of its two hosts are what can hold a route's host flows back.
func (lt *linkTable) hostsBind(r *route) bool {
	over := lt.tight(r)
	return r.fate == arrives && len(over) == 2 && over[0] == lt.up[r.src] && over[1] == pathmap.Reverse(lt.up[r.dst])
}

// tightOf is tight of a host flow's route. It reads the route, which is seldom at hand, only if it must.
func (st *state) tightOf(bu *hostFlow, hosts *[2]pathmap.LinkID) []pathmap.LinkID {
	if st.crooked {
		return st.tight(&st.routes[bu.route])
	}
	*hosts = [...]pathmap.LinkID{st.up[bu.src], pathmap.Reverse(st.up[bu.dst])}
	return hosts[:]
}

// post adds what has been received over a route to its links.
func (lt *linkTable) post(r *route) {
	if r.unposted == 0 {
		return
	}
	for _, l := range r.links() {
		lt.payload[l] += r.unposted
	}
	r.posted += r.unposted
	r.unposted = 0
}

// makeDoor returns a door of a capacity.
func (lt *linkTable) makeDoor(capacity float64) pathmap.LinkID {
	if n := len(lt.doors); n > 0 {
		door := lt.doors[n-1]
		lt.doors = lt.doors[:n-1]
		lt.capacity[door] = capacity
		return door
	}
	lt.capacity = append(lt.capacity, capacity)
	return pathmap.LinkID(len(lt.capacity) - 1)
}

// dropCaps lets the doors of a coflow that is over be others'.
func (lt *linkTable) dropCaps(co *coflow) {
	for _, c := range co.caps {
		if c.rate > 0 {
			lt.doors = append(lt.doors, c.door)
		}
	}
	co.caps = nil
}
