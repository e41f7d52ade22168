package flowsim

import "lightloom/southbound"

// turn is a bundle that is to have another tag.
type turn struct {
	bundle int32
	tag    southbound.Tag
}

// foresee reads what turns will look at: a bundle, its route, the table where the one that it gets begins, that route, its
// class. Hardly any of it is in a cache where there are many bundles and routes, and each says where the next one is; but
// those of several bundles are waited for together here, and one after the other where they are turned.
func (f *fluid) foresee(turns []turn) {
	seen := uint32(0)
	for _, t := range turns {
		p := f.routes[f.bundles[t.bundle].route].pair
		p.tag = t.tag
		seen += f.find.foresee(p)
		i := f.byPair.find(p)
		if i == none {
			continue
		}
		r := &f.routes[i]
		seen += uint32(len(r.links))
		if r.shared != none {
			seen += uint32(f.classes[r.shared].pos)
		}
	}
	f.tmp.seen = seen
}
