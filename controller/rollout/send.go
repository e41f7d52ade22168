package rollout

import (
	"slices"

	"lightloom/southbound"
)

// How moves of one round share the Sets that they wait for.

// send adds a change to the Set of its device in this round and has the move wait for it. It returns
// the Set's token.
func (m *Mover) send(o *move, d southbound.DeviceID, c southbound.Change) uint64 {
	i := 0
	for i < len(m.sets) && m.sets[i].Device != d {
		i++
	}
	if i == len(m.sets) {
		m.sets = append(m.sets, Set{Device: d, Token: m.Token()})
		if d == m.fabric.OCSNode {
			m.asks = append(m.asks, m.token)
		}
	}
	s := &m.sets[i]
	s.Change.Rules = join(s.Change.Rules, c.Rules)
	s.Change.Drop = join(s.Change.Drop, c.Drop)
	s.Change.Connect = join(s.Change.Connect, c.Connect)
	o.await(s.Token)
	return s.Token
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
