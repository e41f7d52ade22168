package sunflowsim

import (
	"cmp"
	"slices"
	"time"
)

// NewSunflow returns Sunflow. It plans whenever a coflow comes or ends, and forgets what it had planned:
//
//   - coflows are in the order of what their busiest port has left, delays not counted;
//   - a pair of ports is planned for the first coflow that has bytes for it, and for no other;
//   - a reservation is as long as the delay and the bytes left, where the circuit is lit already too;
//   - the first coflow's pairs are looked at by (input, output), anew after each single circuit that is released; those
//     of others whenever ports become free, all of one instant together, and not beyond the end of the first coflow.
//
// A lit circuit carries the first coflow that has bytes for it, whosever reservation it is, until a
// port of it is used for another.
func NewSunflow() *Part { return &Part{algorithm: new(sunflow)} }

type sunflow struct{ wake time.Duration }

func (*sunflow) alone() bool { return false }

func (s *sunflow) due(now time.Duration, came, went int) bool { return came+went > 0 || s.wake == now }

func (s *sunflow) plan(p *problem) ([]order, time.Duration) {
	b := &booking{problem: p, spans: make([][]span, 2*p.racks)}
	taken := map[link]bool{}
	for _, c := range p.coflows {
		var todo []demand
		for _, d := range c.links {
			if !taken[d.link] {
				taken[d.link] = true
				todo = append(todo, d)
			}
		}
		if b.end == 0 {
			b.first(todo)
		} else {
			b.other(todo)
		}
	}
	s.wake = b.end
	return b.orders(), b.end
}

// span is when a port is taken.
type span struct{ from, to time.Duration }

// booking is the reservations of one plan.
type booking struct {
	*problem
	spans [][]span // inputs 2i, outputs 2i+1, each by instant
	made  []booked
	end   time.Duration // of the first coflow
}

type booked struct {
	link
	span
}

func (b *booking) reserve(l link, s span) {
	b.made = append(b.made, booked{l, s})
	for _, p := range l.ports() {
		at, _ := slices.BinarySearchFunc(b.spans[p], s.from, func(x span, t time.Duration) int {
			return cmp.Compare(x.from, t)
		})
		b.spans[p] = slices.Insert(b.spans[p], at, s)
	}
}

// ports are a pair's input and output.
func (l link) ports() [2]int { return [2]int{2 * int(l.in), 2*int(l.out) + 1} }

// first books the first coflow, which no earlier coflow blocks.
func (b *booking) first(todo []demand) {
	busy := make([]bool, len(b.spans))
	var releases []booked // by end; of equals the one that was booked first
	now := b.now
	freed := func(link) bool { return true }
	for len(todo) > 0 {
		todo = slices.DeleteFunc(todo, func(d demand) bool {
			at := d.ports()
			if !freed(d.link) || busy[at[0]] || busy[at[1]] {
				return false
			}
			busy[at[0]], busy[at[1]] = true, true
			x := booked{d.link, span{now, now + b.delta + b.over(d.bits)}}
			b.reserve(x.link, x.span)
			k := len(releases)
			for k > 0 && releases[k-1].to > x.to {
				k--
			}
			releases = slices.Insert(releases, k, x)
			b.end = max(b.end, x.to)
			return true
		})
		if len(todo) == 0 {
			return
		}
		x := releases[0]
		releases = releases[1:]
		now = x.to
		busy[2*int(x.in)], busy[2*int(x.out)+1] = false, false
		freed = func(l link) bool { return l.in == x.in || l.out == x.out }
	}
}

// other books a coflow around those before it.
func (b *booking) other(todo []demand) {
	releases := b.releases(todo)
	all := true // pairs are looked at, not only those of ports that have just been released
	for now := b.now; len(todo) > 0; {
		due := map[int]bool{}
		for len(releases) > 0 && releases[0].at == now {
			due[releases[0].port] = true
			releases = releases[1:]
		}
		for i := 0; i < len(todo); {
			d := &todo[i]
			at := d.ports()
			if !all && !due[at[0]] && !due[at[1]] {
				i++
				continue
			}
			free := min(b.freeUntil(at[0], now), b.freeUntil(at[1], now))
			want := now + b.delta + b.over(d.bits)
			to := min(free, want)
			if to < now+b.delta+1 {
				i++
				continue
			}
			b.reserve(d.link, span{now, to})
			for _, p := range at {
				releases = addRelease(releases, release{to, p})
			}
			if d.bits = b.in(want - to); d.bits > 0 {
				i++
				continue
			}
			todo = slices.Delete(todo, i, i+1)
		}
		if all = false; len(releases) == 0 {
			return
		}
		now = releases[0].at
	}
}

// release is a port that becomes free.
type release struct {
	at   time.Duration
	port int
}

// releases returns when ports that pairs need become free after now, by instant.
func (b *booking) releases(todo []demand) []release {
	var all []release
	seen := map[int]bool{}
	for _, d := range todo {
		for _, p := range d.ports() {
			if seen[p] {
				continue
			}
			seen[p] = true
			for _, s := range b.spans[p] {
				all = append(all, release{s.to, p})
			}
		}
	}
	slices.SortFunc(all, func(a, b release) int { return cmp.Compare(a.at, b.at) })
	return all
}

func addRelease(all []release, r release) []release {
	at, _ := slices.BinarySearchFunc(all, r.at,
		func(x release, t time.Duration) int { return cmp.Compare(x.at, t) })
	return slices.Insert(all, at, r)
}

// freeUntil returns until when a port is free from an instant on, that instant if it is taken: the end
// of the first coflow at the latest.
func (b *booking) freeUntil(port int, now time.Duration) time.Duration {
	spans := b.spans[port]
	i, _ := slices.BinarySearchFunc(spans, now, func(s span, t time.Duration) int {
		if s.to <= t {
			return -1
		}
		return 1
	})
	switch {
	case i == len(spans):
		return b.end
	case spans[i].from <= now:
		return now
	}
	return spans[i].from
}

// orders are the reservations as orders.
func (b *booking) orders() []order {
	slices.SortStableFunc(b.made, func(x, y booked) int {
		return cmp.Or(cmp.Compare(x.from, y.from), byLink(x.link, y.link))
	})
	var all []order
	for _, x := range b.made {
		if n := len(all); n == 0 || all[n-1].at != x.from {
			all = append(all, order{at: x.from})
		}
		o := &all[len(all)-1]
		o.links = append(o.links, x.link)
	}
	return all
}
