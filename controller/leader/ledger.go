package leader

import (
	"maps"
	"sync"

	"lightloom/southbound"
)

// Held is how much a device holds.
type Held struct{ Rules, Circuits int }

// Holding is what a device holds by three accounts: what this leadership has asked for, what the device
// has accepted, and what it reported when it was read last.
type Holding struct{ Desired, Accepted, Seen Held }

// holdings keeps the Holding of every device. It costs memory by rule, so it is kept only where somebody
// looks.
type holdings struct {
	mu sync.Mutex
	by map[southbound.DeviceID]*account // nil: nothing is kept
}

type account struct {
	desired, accepted contents
	seen              Held
}

// contents are the matches that have a rule, and the circuits by input.
type contents struct {
	rules    map[uint64]bool
	circuits map[southbound.Port]southbound.Port
}

func contentsOf(seen *southbound.Seen) contents {
	c := contents{map[uint64]bool{}, map[southbound.Port]southbound.Port{}}
	for i := range seen.Rules {
		c.rules[seen.Rules[i].Key()] = true
	}
	for _, x := range seen.Connections {
		c.circuits[x.In] = x.Out
	}
	return c
}

func (c *contents) held() Held { return Held{len(c.rules), len(c.circuits)} }

// apply makes a change as a device does.
func (c *contents) apply(x *southbound.Change) {
	if x.Replace {
		clear(c.rules)
		clear(c.circuits)
	}
	for _, m := range x.Drop {
		delete(c.rules, m.Key())
	}
	for i := range x.Rules {
		c.rules[x.Rules[i].Key()] = true
	}
	for _, k := range x.Connect {
		if k.Off {
			delete(c.circuits, k.In)
			continue
		}
		maps.DeleteFunc(c.circuits, func(_, out southbound.Port) bool { return out == k.Out })
		c.circuits[k.In] = k.Out
	}
}

// accounts begins those of holdings, if they are to be kept.
func accounts(keep bool) map[southbound.DeviceID]*account {
	if !keep {
		return nil
	}
	return map[southbound.DeviceID]*account{}
}

// claimed begins the account of a device that has been claimed, with what it holds then.
func (l *holdings) claimed(d southbound.DeviceID, seen *southbound.Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by != nil {
		l.by[d] = &account{contentsOf(seen), contentsOf(seen), Held{len(seen.Rules), len(seen.Connections)}}
	}
}

// note has fn change the account of a device, if there is one.
func (l *holdings) note(d southbound.DeviceID, fn func(*account)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.by[d]; a != nil {
		fn(a)
	}
}

func (l *holdings) asked(d southbound.DeviceID, c *southbound.Change) {
	l.note(d, func(a *account) { a.desired.apply(c) })
}

func (l *holdings) accepted(d southbound.DeviceID, c *southbound.Change) {
	l.note(d, func(a *account) { a.accepted.apply(c) })
}

func (l *holdings) read(d southbound.DeviceID, seen *southbound.Seen) {
	l.note(d, func(a *account) { a.seen = Held{len(seen.Rules), len(seen.Connections)} })
}

// of returns what a device holds; nil where that is not known.
func (l *holdings) of(d southbound.DeviceID) (out *Holding) {
	l.note(d, func(a *account) { out = &Holding{a.desired.held(), a.accepted.held(), a.seen} })
	return out
}
