package rollout

import (
	"cmp"
	"slices"
	"time"

	"lightloom/southbound"
)

// How moves of one round share the Sets that they wait for.

// send adds a change to the Set of its device in this round and has the move wait for it. It returns
// the Set's token.
func (m *Mover) send(o *move, d southbound.DeviceID, c southbound.Change) uint64 {
	i := 0
	for i < len(m.sets) && (m.sets[i].Device != d || slices.Contains(m.paths, m.sets[i].Token)) {
		i++
	}
	if i == len(m.sets) {
		m.sets = append(m.sets, Set{Device: d, Token: m.Token()})
		if m.fabric.IsOCS(d) {
			m.asks = append(m.asks, ask{m.token, d})
		}
	}
	s := &m.sets[i]
	s.Change.Rules = join(s.Change.Rules, c.Rules)
	s.Change.Drop = join(s.Change.Drop, c.Drop)
	s.Change.Connect = join(s.Change.Connect, c.Connect)
	o.await(s.Token)
	return s.Token
}

// connect has the OCS of a move's ports make its circuit or, with off, remove it, and the move wait for that.
func (m *Mover) connect(o *move, off bool) {
	d, x := m.crossConnect(o.in, o.out)
	x.Off = off
	m.send(o, d, southbound.Change{Connect: []southbound.CrossConnect{x}})
}

// crossConnect returns the OCS that has both ports of a circuit, and the circuit by that OCS's own numbers.
func (m *Mover) crossConnect(in, out southbound.Port) (southbound.DeviceID, southbound.CrossConnect) {
	d, i := m.fabric.OCSAt(int32(in))
	_, o := m.fabric.OCSAt(int32(out))
	return d, southbound.CrossConnect{In: southbound.Port(i), Out: southbound.Port(o)}
}

// askAll sends the moves that are ready to their OCSes: one Set to each.
func (m *Mover) askAll(now time.Duration, ready []*move) {
	of := func(o *move) southbound.DeviceID {
		d, _ := m.fabric.OCSAt(int32(o.in))
		return d
	}
	if m.fabric.OCSes() > 1 {
		slices.SortStableFunc(ready, func(a, b *move) int { return cmp.Compare(of(a), of(b)) })
	}
	for len(ready) > 0 {
		d, n := of(ready[0]), 1
		for n < len(ready) && of(ready[n]) == d {
			n++
		}
		m.ask(now, d, ready[:n])
		ready = ready[n:]
	}
}

// ask sends one OCS the circuits of moves that are ready.
func (m *Mover) ask(now time.Duration, d southbound.DeviceID, ready []*move) {
	change := southbound.Change{Connect: m.connections(len(ready))}
	for _, o := range ready {
		_, x := m.crossConnect(o.in, o.out)
		change.Connect = append(change.Connect, x)
		o.phase, o.stages.Drained = waiting, now
		m.asked(o.in, o.out)
	}
	token := m.send(ready[0], d, change) // the first carries it for all
	for _, o := range ready[1:] {
		o.await(token)
	}
}

// await has the move wait for the answer to a Set.
func (o *move) await(token uint64) {
	if !slices.Contains(o.open, token) {
		o.open = append(o.open, token)
	}
}

// join appends b to a; b must have no other holder.
func join[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

// connections returns room for n; the receiver can keep it, as it is never written again.
func (m *Mover) connections(n int) []southbound.CrossConnect {
	if n > len(m.room) {
		m.room = make([]southbound.CrossConnect, max(n, roomFor))
	}
	out := m.room[:0:n]
	m.room = m.room[n:]
	return out
}

// roomFor is for how many connections room is made at once: half a kilobyte.
const roomFor = 64
