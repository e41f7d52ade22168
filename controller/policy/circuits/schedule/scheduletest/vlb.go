// Package scheduletest plays demands on a rotor switch whose racks keep bytes for each other, slot by
// slot: the slow, obviously right twin of what the simulator's racks do under the policy rotor-vlb.
package scheduletest

import (
	"slices"
	"time"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// Rotor is one cycle of the matchings that join every input to every output but its own, in an order
// independent of demand: input i leads to i+1 in the first slot, to i+2 in the second (Mellette,
// McGuinness, Roy, Forencich, Papen, Snoeren, Porter: RotorNet: a scalable, low-complexity, optical
// datacenter network, SIGCOMM 2017). slot is the whole length of each, reconfiguration delay included.
// Bytes go straight to their rack, unless racks relay some for each other (Valiant load balancing):
// RotorLB computes that.
func Rotor(ports int, slot time.Duration) schedule.Schedule {
	var s schedule.Schedule
	for by := 1; by < ports; by++ {
		out := make([]southbound.Port, ports)
		for i := range out {
			out[i] = southbound.Port((i + by) % ports)
		}
		s.Slots = append(s.Slots, schedule.Slot{Long: slot, Out: out})
	}
	return s
}

// Detours is what becomes of a demand on a rotor switch whose racks keep bytes for each other. Amounts
// are times on a circuit, as in a schedule.Matrix; a byte that takes two hops takes that time twice.
type Detours struct {
	Slots  int           // until all is delivered
	Long   time.Duration // their length, reconfiguration delays included
	Direct time.Duration // of the demand: delivered in one hop
	Twice  time.Duration // of the demand: delivered in two
	Stored time.Duration // the most that one rack held for others after a slot
}

// RotorLB plays the matchings of Rotor until a demand is delivered, with the load balancing of RotorNet
// (Mellette, McGuinness, Roy, Forencich, Papen, Snoeren, Porter: RotorNet, SIGCOMM 2017, section 4:
// Valiant's detours, but only of what does not fit the direct way). In each slot an input sends to its
// output first what it has stored for it, then its own bytes for it; the time left it offers for a
// third rack, and the output takes as much as it will be able to deliver the next time it leads there,
// its own bytes and what it has stored counted, every destination an equal part in turn. Without
// detours (detour false) that last step is left out, which is what the policy rotor does.
//
// It is a model of racks that store and forward, slot by slot, where nothing arrives meanwhile. The
// simulator's racks do so by themselves under the policy rotor-vlb, and this is what they are held
// against. slot is longer than the reconfiguration delay.
func RotorLB(m schedule.Matrix, delta, slot time.Duration, detour bool) Detours {
	r := &relay{own: m.Clone(), stored: schedule.New(len(m)), carry: max(slot-delta, 1), detour: detour,
		room: make([]time.Duration, len(m))}
	turn := Rotor(len(m), slot)
	var d Detours
	for r.left() {
		out := turn.Slots[d.Slots%len(turn.Slots)].Out
		for i := range out {
			r.room[i] = r.send(i, int(out[i]), &d)
		}
		for i := range out {
			r.offer(i, int(out[i]), r.room[i])
		}
		d.Slots++
		r.arrive()
		rows, _ := r.stored.Sums()
		d.Stored = max(d.Stored, slices.Max(rows))
	}
	d.Long = time.Duration(d.Slots) * slot
	return d
}

// relay is the racks of one play.
type relay struct {
	own, stored schedule.Matrix // left: own of each source, and what each holds for a destination
	coming      []hop           // sent in this slot, and not to be sent on in it
	carry       time.Duration
	room        []time.Duration // by input: what is left of the slot once it has sent what is for its output
	detour      bool
}

type hop struct {
	at, dst int
	amount  time.Duration
}

func (r *relay) left() bool { return !r.own.Empty() || !r.stored.Empty() }

// send is what one circuit of one slot carries for its output; it returns how much more it could.
func (r *relay) send(i, j int, d *Detours) time.Duration {
	room := r.carry
	give := func(from schedule.Matrix) time.Duration {
		x := min(room, from[i][j])
		from[i][j] -= x
		room -= x
		return x
	}
	d.Twice += give(r.stored)
	d.Direct += give(r.own)
	return room
}

// offer sends what is left of a slot to be stored at j. All circuits of a slot send at once, so that
// what j has is what it will have when the slot ends.
func (r *relay) offer(i, j int, room time.Duration) {
	if !r.detour {
		return
	}
	for open := r.takes(i, j); room > 0 && len(open) > 0; open = r.takes(i, j) {
		part := max(room/time.Duration(len(open)), 1)
		for _, k := range open {
			x := min(part, room, r.own[i][k]-r.keeps(i, k), r.space(j, k))
			if x <= 0 {
				continue
			}
			r.own[i][k] -= x
			room -= x
			r.coming = append(r.coming, hop{j, k, x})
		}
	}
}

// takes lists the destinations for which i has more than it will deliver itself, and j has space.
func (r *relay) takes(i, j int) (open []int) {
	for k := range r.own {
		if k != i && k != j && r.own[i][k] > r.keeps(i, k) && r.space(j, k) > 0 {
			open = append(open, k)
		}
	}
	return open
}

// keeps is what a source holds back for its own next circuit to a destination.
func (r *relay) keeps(i, k int) time.Duration { return min(r.own[i][k], r.carry) }

// space is what j will be able to deliver to k the next time it leads there, beside all that it has for it.
func (r *relay) space(j, k int) time.Duration {
	s := r.carry - r.own[j][k] - r.stored[j][k]
	for _, h := range r.coming {
		if h.at == j && h.dst == k {
			s -= h.amount
		}
	}
	return s
}

func (r *relay) arrive() {
	for _, h := range r.coming {
		r.stored[h.at][h.dst] += h.amount
	}
	r.coming = r.coming[:0]
}
