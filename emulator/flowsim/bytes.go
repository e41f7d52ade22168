package flowsim

import "lightloom/pathmap"

// Byte counters say how many bytes went over each link, exactly: whole bytes of a host flow are counted
// on the route it was on when it received them, the broken byte at the change of a route on the later
// one, and the sum over any cut is the sum of the sizes.

// account counts what a host flow has received on its route.
func (f *fluid) account(b int32) {
	bu := &f.hostFlows[b]
	if bu.class == gone || bu.class == onHold && bu.holds() {
		return // all that it has received is there
	}
	f.count(bu, f.leftOf(b))
}

// count counts all but what a host flow has left as received on its route.
func (f *fluid) count(bu *hostFlow, left float64) {
	if f.awaits(left) {
		left = 0
	}
	if received := bu.size - ceil(left); received > bu.counted {
		f.routes[bu.route].unposted += received - bu.counted
		bu.counted = received
	}
}

func ceil(x float64) pathmap.Bytes {
	n := pathmap.Bytes(x)
	if float64(n) < x {
		n++
	}
	return n
}

// accountShared accounts for the host flows in a route's shared classes, and reports whether the route
// has others.
func (f *fluid) accountShared(r *route) (others bool) {
	live := int(r.live)
	for _, c := range [...]int32{r.shared, r.even} {
		if c == none {
			continue
		}
		n := f.classes.list[c].size
		live -= int(n)
		for i := range n {
			f.account(f.classes.member(c, i))
		}
	}
	return live > 0
}

// accountApart accounts for the host flows of coflows with a pace or a priority, which are in no
// route's shared class.
func (f *fluid) accountApart() {
	for _, i := range f.live {
		co := &f.coflows[i]
		if (co.kind == free || co.kind == leveled) && co.priority.Priority == 0 {
			continue
		}
		for b := co.first; b < co.end; b++ {
			f.account(b)
		}
	}
}

// postAll brings the payload of all links up to date.
func (f *fluid) postAll() {
	for _, i := range f.live {
		co := &f.coflows[i]
		factor := co.factorAt(f.clock.Now())
		for b := co.first; b < co.end; b++ {
			if bu := &f.hostFlows[b]; bu.class == onPace { // most rows, and they have one factor
				f.count(bu, f.parts[b]*factor)
			} else {
				f.account(b)
			}
		}
	}
	if len(f.active) > len(f.routes)/8 { // then all are read faster, in their order
		for i := range f.routes {
			f.post(&f.routes[i])
		}
		return
	}
	for _, i := range f.active { // exit has posted what others have received
		f.post(&f.routes[i])
	}
}

// postOver brings the payload of the links up to date that all lead to one node, or to one input of the
// optical switch: no route goes there that did not ask what follows.
func (f *fluid) postOver(n pathmap.NodeID) {
	for _, i := range f.watch[n] {
		r := &f.routes[i]
		if r.live > 0 && f.accountShared(r) {
			f.postAll() // some of its host flows are in no class of the route's
			return
		}
		f.post(r)
	}
}
