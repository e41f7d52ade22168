package flowsim

import (
	"time"

	"lightloom/pathmap"
)

// offer sends for the rest of a slot what rack j is to keep. Rack i gives what it has beyond its own
// next circuit to a destination, and j takes what it will be able to deliver in its own; destinations
// have equal parts, in turn.
func (x *relay) offer(i, j int32, long time.Duration) {
	t := &x.tmp
	x.ownOf(i, t.own)
	room, any := pathmap.Bytes(x.rate(i, j)*float64(long)), false
	for k := range t.spare {
		t.spare[k], t.give[k] = 0, 0
		if to := int32(k); to != i && to != j && x.sim.fabric.OCSUplink[k] >= 0 {
			t.spare[k] = max(pathmap.Bytes(t.own[k]-x.carry(i, to)), 0)
			any = any || t.spare[k] > 0
		}
	}
	if !any {
		return
	}
	x.spaceAt(j, long)
	for x.openTo(); room > 0 && len(t.open) > 0; x.openTo() {
		part := max(room/pathmap.Bytes(len(t.open)), 1)
		for _, k := range t.open {
			n := min(part, room, t.spare[k], t.space[k])
			t.spare[k] -= n
			t.space[k] -= n
			t.give[k] += n
			room -= n
		}
	}
	for k, n := range t.give {
		if n > 0 && x.take(i, j, int32(k), n) {
			x.uneasy = append(x.uneasy, i) // it is asked again when these have gone
		}
	}
}

// openTo lists the destinations that something can still be given for.
func (x *relay) openTo() {
	t := &x.tmp
	t.open = t.open[:0]
	for k := range t.spare {
		if t.spare[k] > 0 && t.space[k] > 0 {
			t.open = append(t.open, int32(k))
		}
	}
}

// spaceAt says what a rack can take for each destination: what its next circuit there will carry beside
// all that it has for it then. Where its circuit leads now, that is what this slot leaves, and what has
// come in it or is still to come.
func (x *relay) spaceAt(j int32, long time.Duration) {
	t := &x.tmp
	x.ownOf(j, t.theirs)
	clear(t.later)
	for _, l := range x.racks[j].kept {
		if g := &x.legs[l]; g.hop == firstHop || x.waits(l) {
			t.later[g.to] += x.stillToCome(l)
			continue
		}
		t.theirs[x.legs[l].to] += x.stillToCome(l)
	}
	for k := range t.space {
		if t.space[k] = 0; t.spare[k] == 0 {
			continue
		}
		has := t.theirs[k]
		if x.racks[j].to == int32(k) {
			has = max(has-x.rate(j, int32(k))*float64(long), 0)
		}
		t.space[k] = max(pathmap.Bytes(x.carry(j, int32(k))-has-t.later[k]), 0)
	}
}

// stillToCome is what its destination has not received of a leg, in bytes.
func (x *relay) stillToCome(l int32) float64 {
	if g := &x.legs[l]; g.hop == firstHop {
		return float64(g.size)
	}
	return x.fluid.leftOf(x.row(l))
}

// take cuts n bytes out of a rack's own host flows to another rack, and sends them to be kept. Every
// host flow keeps a byte, so that it does not end before its last byte has gone. take reports whether
// it found any.
func (x *relay) take(i, j, k int32, n pathmap.Bytes) (any bool) {
	f := x.fluid
	for _, o := range x.racks[i].own {
		if o.to != k || !x.lives(o) {
			continue
		}
		piece := min(n, pathmap.Bytes(f.leftOf(o.hostFlow))-1)
		if piece <= 0 {
			continue
		}
		f.cut(o.hostFlow, piece)
		x.send(o.hostFlow, i, j, k, piece)
		any = true
		if n -= piece; n == 0 {
			break
		}
	}
	return any
}

// cut makes a host flow shorter: others bring those bytes.
func (f *fluid) cut(b int32, n pathmap.Bytes) {
	f.account(b)
	left := f.pull(b)
	f.hostFlows[b].size -= n
	f.place(b, left-float64(n))
}
