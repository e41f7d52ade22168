package flowsim

import "lightloom/pathmap"

// The books say how many bytes went over each link, exactly: whole bytes of a bundle are counted on the route it was on
// when it received them, the broken byte at the change of a route on the later one, and the sum over any cut is the sum
// of the sizes.

// account enters what a bundle has received into its route's books.
func (f *fluid) account(b int32) {
	bu := &f.bundles[b]
	if bu.class == gone || bu.class == onHold {
		return // all that it has received is there
	}
	if received := bu.size - ceil(f.leftOf(b)); received > bu.counted {
		f.routes[bu.route].books += received - bu.counted
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

// accountShared accounts for the bundles in the classes that a route's bundles share, and says whether it has others.
func (f *fluid) accountShared(r *route) (others bool) {
	live := int(r.live)
	for _, c := range [...]int32{r.shared, r.even} {
		if c == none {
			continue
		}
		n := f.classes[c].size
		live -= int(n)
		for i := range n {
			f.account(f.member(c, i))
		}
	}
	return live > 0
}

// accountApart accounts for the bundles of paced coflows, which are in no route's shared class.
func (f *fluid) accountApart() {
	for _, i := range f.live {
		co := &f.coflows[i]
		if co.kind == free || co.kind == leveled {
			continue
		}
		for b := co.first; b < co.end; b++ {
			f.account(b)
		}
	}
}

// post adds a route's books to its links.
func (f *fluid) post(r *route) {
	if r.books == 0 {
		return
	}
	for _, l := range r.links() {
		f.payload[l] += r.books
	}
	r.posted += r.books
	r.books = 0
}

// close brings all books up to date.
func (f *fluid) close() {
	for _, i := range f.live {
		co := &f.coflows[i]
		for b := co.first; b < co.end; b++ {
			f.account(b)
		}
	}
	for i := range f.routes {
		f.post(&f.routes[i])
	}
}

// closeOver brings the payload of the links up to date that all lead to one node, or to one input of the optical switch: no
// route goes there that did not ask what follows.
func (f *fluid) closeOver(n pathmap.NodeID) {
	for _, i := range f.watch[n] {
		r := &f.routes[i]
		if r.live > 0 && f.accountShared(r) {
			f.close() // some of its bundles are in no class of the route's
			return
		}
		f.post(r)
	}
}
