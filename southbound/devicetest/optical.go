package devicetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/southbound"
)

const status = southbound.ConnectionStatus

func circuitMade(t *testing.T, b *Bench) {
	w := b.watch(t)
	b.set(t, connect(0, 1))
	w.expect(t, status, 0, 1, southbound.PendingConnection)
	w.expect(t, status, 0, 1, southbound.Connected)
	b.settle(t, "made", circuitsAre(0, 1))
	b.set(t, connect(0, southbound.NoPort, 3, southbound.NoPort)) // an absent one is nothing
	w.expect(t, status, 0, 1, southbound.PendingDeletion)
	w.expect(t, status, 0, 1, southbound.Disconnected)
	b.settle(t, "removed", circuitsAre())
	b.set(t, connect(0, 1))
	w.expect(t, status, 0, 1, southbound.PendingConnection)
	w.expect(t, status, 0, 1, southbound.Connected)
}

// sameCircuit requests an existing circuit and then another one: the first event must be of the other one.
func sameCircuit(t *testing.T, b *Bench) {
	b.set(t, connect(0, 1, 2, 2))
	b.settle(t, "made", circuitsAre(0, 1, 2, 2))
	w := b.watch(t)
	b.set(t, connect(0, 1))
	b.set(t, connect(2, 2, 0, 1))
	b.set(t, connect(4, 5))
	w.expect(t, status, 4, 5, southbound.PendingConnection)
	w.expect(t, status, 4, 5, southbound.Connected)
}

func circuitDisplaces(t *testing.T, b *Bench) {
	b.set(t, connect(0, 1, 2, 3, 5, 5))
	b.settle(t, "made", circuitsAre(0, 1, 2, 3, 5, 5))
	w := b.watch(t)
	b.set(t, connect(0, 3)) // takes the input of one and the output of another
	w.expect(t, status, 0, 1, southbound.PendingDeletion)
	w.expect(t, status, 2, 3, southbound.PendingDeletion)
	w.expect(t, status, 0, 3, southbound.PendingConnection)
	w.expect(t, status, 0, 1, southbound.Disconnected)
	w.expect(t, status, 2, 3, southbound.Disconnected)
	w.expect(t, status, 0, 3, southbound.Connected)
	b.settle(t, "displaced", circuitsAre(0, 3, 5, 5))
	b.set(t, connect(0, 5, 5, 3)) // two swap their outputs
	b.settle(t, "swapped", circuitsAre(0, 5, 5, 3))
}

func circuitsReplaced(t *testing.T, b *Bench) {
	b.set(t, connect(0, 1, 2, 3))
	b.settle(t, "made", circuitsAre(0, 1, 2, 3))
	w := b.watch(t)
	c := connect(2, 3, 4, 1)
	c.Replace = true
	b.set(t, c)
	w.expect(t, status, 0, 1, southbound.PendingDeletion)
	w.expect(t, status, 4, 1, southbound.PendingConnection)
	w.expect(t, status, 0, 1, southbound.Disconnected)
	w.expect(t, status, 4, 1, southbound.Connected)
	b.settle(t, "replaced", circuitsAre(2, 3, 4, 1))
	b.set(t, &southbound.Change{Replace: true})
	b.settle(t, "emptied", circuitsAre())
}

func watchBegins(t *testing.T, b *Bench) {
	b.set(t, connect(4, 0, 1, 2))
	b.settle(t, "made", circuitsAre(1, 2, 4, 0))
	w := b.watch(t)
	if len(w.begin) != 2 {
		t.Fatalf("the stream begins with %+v", w.begin)
	}
	for i, want := range []southbound.Port{1, 4} {
		if e := w.begin[i]; e.Kind != status || e.In != want || e.Status != southbound.Connected {
			t.Errorf("event %d is %+v, want the connection of input %d", i, e, want)
		}
	}
}

// randomCircuits compares the device with a plain map over a seeded walk of changes, some of which
// overtake each other.
func randomCircuits(t *testing.T, b *Bench) {
	r := rand.New(rand.NewPCG(9, 2))
	reference := map[southbound.Port]southbound.Port{}
	for step := range 60 {
		c := b.randomCircuits(r)
		b.set(t, c)
		if c.Replace {
			clear(reference)
		}
		for _, x := range c.Connect {
			delete(reference, x.In)
			for in, out := range reference {
				if !x.Off && out == x.Out {
					delete(reference, in)
				}
			}
		}
		for _, x := range c.Connect {
			if !x.Off {
				reference[x.In] = x.Out
			}
		}
		if step%3 != 0 {
			continue
		}
		var want []southbound.Port
		for in, out := range reference {
			want = append(want, in, out)
		}
		b.settle(t, fmt.Sprintf("after %+v", c), circuitsAre(want...))
	}
}

func (b *Bench) randomCircuits(r *rand.Rand) *southbound.Change {
	ins, outs := r.Perm(int(b.Ports)), r.Perm(int(b.Ports))
	c := &southbound.Change{Replace: r.IntN(8) == 0}
	for i := range r.IntN(4) {
		x := southbound.CrossConnect{In: southbound.Port(ins[i]), Out: southbound.Port(outs[i])}
		if !c.Replace && r.IntN(4) == 0 {
			x = southbound.CrossConnect{In: x.In, Off: true}
		}
		c.Connect = append(c.Connect, x)
	}
	return c
}
