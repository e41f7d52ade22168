package sunflowsim

import (
	"cmp"
	"slices"
	"time"

	"lightloom/southbound"
)

// link is a pair of ports of the optical switch.
type link struct{ in, out southbound.Port }

func byLink(a, b link) int { return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.out, b.out)) }

// order asks for circuits at one instant. Those that are lit already carry on; the others are dark for a
// reconfiguration delay first.
type order struct {
	at    time.Duration
	links []link // no port twice
}

// window is one circuit, from when it is ordered until another takes one of its ports.
type window struct {
	link
	from, lit, until time.Duration
	coflow           southbound.CoflowID // that it was reserved for last; none if unused
}

// none is no coflow, and not every coflow.
const none southbound.CoflowID = -2

// far is the end of what nothing is known to end.
const far = southbound.Never / 2

// active returns the windows that are lit at an instant. Dark ones are not included: a new plan
// requests them again, and their delay begins again. Windows requested at that very instant are not
// included either.
func active(all []window, now time.Duration) []window {
	var out []window
	for _, w := range all {
		if w.from < now && w.lit <= now && w.until >= now {
			w.until = far
			out = append(out, w)
		}
	}
	return out
}

// lay returns the windows that come of circuits that are lit and orders, by instant. An order takes
// away the circuits that it needs the ports of; with alone, all that it does not name.
func lay(open []window, orders []order, delta time.Duration, alone bool) []window {
	var all []window
	for _, o := range orders {
		in, out := map[southbound.Port]bool{}, map[southbound.Port]bool{}
		named := map[link]bool{}
		for _, l := range o.links {
			in[l.in], out[l.out], named[l] = true, true, true
		}
		kept := open[:0:0]
		for _, w := range open {
			switch {
			case named[w.link]:
				delete(named, w.link)
				kept = append(kept, w)
			case alone || in[w.in] || out[w.out]:
				w.until = o.at
				all = append(all, w)
			default:
				kept = append(kept, w)
			}
		}
		for _, l := range o.links {
			if named[l] {
				kept = append(kept, window{link: l, from: o.at, lit: o.at + delta, until: far, coflow: none})
			}
		}
		open = kept
	}
	all = append(all, open...)
	slices.SortFunc(all, func(a, b window) int {
		return cmp.Or(cmp.Compare(a.from, b.from),
			byLink(a.link, b.link))
	})
	return all
}
