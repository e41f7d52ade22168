package sunflowsim

import (
	"cmp"
	"math"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// roster is the list of coflows as that simulator keeps it.
type roster struct {
	order   []southbound.CoflowID
	coflows map[southbound.CoflowID]*coflow
	locals  int                                // wholly local coflows that have come and gone since the last plan
	free    map[controller.JobID]pathmap.Bytes // what jobs send within a host, which counts as sent
}

// coflow is what a coflow has left, in bits.
type coflow struct {
	id    southbound.CoflowID
	alpha int64    // of its busiest port
	size  int64    // of all that it sends
	left  int64    // of all that it has left
	rows  []demand // as declared
	links []demand // by pair of ports, each once
}

type demand struct {
	link
	bits int64
	row  int32
}

// find returns what a coflow has left for a pair.
func (c *coflow) find(l link) int64 {
	i, ok := slices.BinarySearchFunc(c.links, l, func(d demand, l link) int { return byLink(d.link, l) })
	if !ok {
		return 0
	}
	return c.links[i].bits
}

// read takes what is left of all coflows from a view.
func (p *roster) read(v *controller.View) {
	if p.free == nil {
		p.free = map[controller.JobID]pathmap.Bytes{}
	}
	p.coflows = map[southbound.CoflowID]*coflow{}
	in, out := make([]int64, v.Fabric.Racks), make([]int64, v.Fabric.Racks)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if !c.Started {
			continue
		}
		clear(in)
		clear(out)
		x := &coflow{id: c.ID, size: 8 * int64(p.free[c.Job]), rows: make([]demand, 0, len(c.Src))}
		for row := range c.Src {
			l := link{southbound.Port(v.HostRack(c.Src[row])), southbound.Port(v.HostRack(c.Dst[row]))}
			x.size += 8 * int64(c.Size[row])
			if c.Ended[row] || l.in == l.out {
				continue
			}
			bits := max(int64(math.Round(8*c.Remaining.Row(int32(row)))), 1)
			x.rows = append(x.rows, demand{l, bits, int32(row)})
			x.left += bits
			in[l.in] += bits
			out[l.out] += bits
			x.alpha = max(x.alpha, in[l.in], out[l.out])
		}
		x.links = slices.Clone(x.rows)
		slices.SortFunc(x.links, func(a, b demand) int { return byLink(a.link, b.link) })
		x.links = merge(x.links)
		p.coflows[c.ID] = x
	}
}

// merge adds up what has the same pair of ports.
func merge(sorted []demand) []demand {
	out := sorted[:0]
	for _, d := range sorted {
		if n := len(out); n > 0 && out[n-1].link == d.link {
			out[n-1].bits += d.bits
			continue
		}
		out = append(out, d)
	}
	return out
}

// arrange brings the list of coflows up to date, and calls changed for each that has come or gone. soon
// says that a job waits whose coflow will start at this instant.
func (p *roster) arrange(v *controller.View, changed func()) (came, went int, soon bool) {
	n := len(p.order)
	p.order = slices.DeleteFunc(p.order, func(id southbound.CoflowID) bool { return p.coflows[id] == nil })
	if went = n - len(p.order); went > 0 {
		changed()
	}
	for _, j := range v.Waiting {
		sent, all := local(j)
		if p.free[j.ID] = sent; all {
			p.locals++
		}
		soon = soon || !all
	}
	for i := range v.Coflows {
		if id := v.Coflows[i].ID; p.coflows[id] != nil && !slices.Contains(p.order, id) {
			p.order = append(p.order, id)
			changed()
			came++
		}
	}
	if soon {
		return came, went, true
	}
	if came == 0 { // it changes as such a coflow ends, and as it comes
		for range 2 * p.locals {
			changed()
		}
	}
	came, p.locals = came+p.locals, 0
	return came, went, false
}

// sort puts coflows in the order of what their busiest port has left. That simulator compares with "at
// most" in place of "less", so that equals change places each time.
func (p *roster) sort() {
	slices.Reverse(p.order)
	slices.SortStableFunc(p.order, func(a, b southbound.CoflowID) int {
		return cmp.Compare(p.coflows[a].alpha, p.coflows[b].alpha)
	})
}

// local returns what a job sends that stays where it is, and whether that is all.
func local(j *controller.Job) (sent pathmap.Bytes, all bool) {
	all = true
	for _, e := range j.Edges {
		for _, f := range e.Flows {
			if f.Src == f.Dst {
				sent += f.Bytes
			}
			all = all && f.Src == f.Dst
		}
		all = all && e.Kind == controller.Fixed
	}
	return sent, all
}
