package device_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

// referenceCircuits is what is wanted, kept as plainly as can be.
type referenceCircuits map[southbound.Port]southbound.Port

func (w referenceCircuits) do(c *southbound.Change) {
	if c.Replace {
		clear(w)
	}
	for _, x := range c.Connect {
		delete(w, x.In)
		for in, out := range w {
			if !x.Off && out == x.Out {
				delete(w, in)
			}
		}
	}
	for _, x := range c.Connect {
		if !x.Off {
			w[x.In] = x.Out
		}
	}
}

func randomConnects(r *rand.Rand, ports int) *southbound.Change {
	ins, outs := r.Perm(ports), r.Perm(ports)
	c := &southbound.Change{Replace: r.IntN(10) == 0}
	for i := range r.IntN(4) {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: southbound.Port(ins[i]),
			Out: southbound.Port(outs[i]),
			Off: r.IntN(4) == 0})
	}
	return c
}

func randomDelays(r *rand.Rand) device.Delays {
	d := device.Delays{Dark: device.Dist{Shape: device.Uniform, A: ms, B: 10 * ms},
		Lock:   device.Dist{Shape: device.Normal, A: 2 * ms, B: ms},
		Detect: device.Fixed(ms / 2)}
	if r.IntN(3) > 0 {
		d.Apply = device.Dist{Shape: device.Exponential, A: ms, B: 3 * ms, Max: 20 * ms}
	}
	if r.IntN(6) == 0 {
		d = device.Delays{}
	}
	return d
}

// TestRandomCircuits walks through thousands of seeded runs of changes at random instants, some before
// the last one is done, with and without faults, all-stop and restarts, and holds what must be true at
// every moment.
func TestRandomCircuits(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		allStop := r.IntN(3) == 0
		b := newBench(device.Optical, func(c *device.Config) {
			c.Delays, c.AllStop, c.Seed, c.Recovery = randomDelays(r), allStop, seed, device.Recovery(r.IntN(3))
		})
		if err := circuitWalk(b, r, seed%4 == 0); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func circuitWalk(b *bench, r *rand.Rand, rough bool) error {
	want, told := referenceCircuits{}, map[[2]southbound.Port]southbound.Status{}
	note := func(e southbound.DeviceEvent) {
		switch {
		case e.Kind == southbound.Lost:
			clear(told)
		case e.Status == southbound.Disconnected && e.Kind == southbound.ConnectionStatus:
			delete(told, [2]southbound.Port{e.In, e.Out})
		case e.Kind == southbound.ConnectionStatus:
			told[[2]southbound.Port{e.In, e.Out}] = e.Status
		}
	}
	step := func(until time.Duration) {
		for at, ok := b.Next(); ok && at <= until; at, ok = b.Next() {
			b.now = max(b.now, at)
			b.Advance(b.now, note)
		}
		b.now = until
		b.Advance(until, note)
	}
	for range 20 {
		if rough && r.IntN(8) == 0 {
			b.Fault(device.Fault{Kind: device.FaultKind(1 + r.IntN(3)),
				Port: southbound.Port(r.IntN(9)) - 1, Times: 1,
				Delay: 30 * ms})
		}
		c := randomConnects(r, 8)
		if err := b.Set(b.now, c); err != nil {
			return err
		}
		want.do(c)
		step(b.now + time.Duration(r.Int64N(int64(12*ms))))
		if err := holds(b); err != nil {
			return fmt.Errorf("at %v: %w", b.now, err)
		}
	}
	if rough && b.Config().Recovery != device.Remove {
		b.Restart(b.now, 50*ms)
	}
	b.ClearFaults()
	step(b.now + time.Second)
	for in, out := range want { // what failed or stuck on the way is asked for once more
		want := &southbound.Change{Connect: []southbound.CrossConnect{{In: in, Off: true}}}
		if s, ok := told[[2]southbound.Port{in, out}]; ok && s != southbound.Connected {
			if err := b.Set(b.now, want); err != nil {
				return err
			}
		}
		if err := b.Set(b.now, &southbound.Change{Connect: []southbound.CrossConnect{{In: in,
			Out: out}}}); err != nil {
			return err
		}
	}
	step(b.now + time.Second)
	for i, c := range b.Seen(b.now).Connections {
		if out, ok := want[c.In]; !ok || out != c.Out || c.Status != southbound.Connected {
			return fmt.Errorf("connection %d is %+v, wanted are %v", i, c, want)
		}
		if told[[2]southbound.Port{c.In, c.Out}] != southbound.Connected {
			return fmt.Errorf("events say %v of %+v", told[[2]southbound.Port{c.In, c.Out}], c)
		}
	}
	if n := len(b.Seen(b.now).Connections); n != len(want) || n != len(told) {
		return fmt.Errorf("%d connections are seen, %d wanted, %d told", n, len(want), len(told))
	}
	return holds(b)
}

// holds checks the log and the plane against each other: no port twice, and light exactly where the log
// says.
func holds(b *bench) error {
	log := b.Log()
	if err := device.CheckLit(log); err != nil {
		return err
	}
	by := map[southbound.Port]southbound.Port{}
	for _, i := range log {
		if i.From <= b.now && b.now < i.To {
			by[i.In] = i.Out
		}
	}
	for in := range southbound.Port(8) {
		out, ok := b.plane.Cross(b.now, in)
		if want, lit := by[in]; ok != lit || ok && out != want {
			return fmt.Errorf("the plane passes %d→%d (%v), the log says %v", in, out, ok, by)
		}
	}
	return nil
}

// TestUnnamedKeepLight moves some circuits again and again; a circuit that no change names is lit once,
// for the whole run.
func TestUnnamedKeepLight(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		b := newBench(device.Optical, func(c *device.Config) { c.Delays, c.Seed = randomDelays(r), seed })
		b.set(t, connect(7, 7))
		b.until(100 * ms)
		for range 30 {
			c := randomConnects(r, 7)
			c.Replace = false
			b.set(t, c)
			b.until(b.now + time.Duration(r.Int64N(int64(8*ms))))
		}
		n := 0
		for _, i := range b.Log() {
			if i.In == 7 || i.Out == 7 {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("seed %d: the circuit that no change named was lit %d times", seed, n)
		}
	}
}

// TestRandomRules compares the table with a map, and packets with a lookup written the long way.
func TestRandomRules(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 5))
		b := newBench(device.Packet, func(c *device.Config) { c.Delays, c.Seed = randomDelays(r), seed })
		reference := map[southbound.Match]southbound.Rule{}
		for range 10 {
			c := randomRules(r)
			b.set(t, c)
			if c.Replace {
				clear(reference)
			}
			for _, m := range c.Drop {
				delete(reference, m)
			}
			for _, n := range c.Rules {
				reference[n.Match] = n
			}
			if r.IntN(2) == 0 {
				b.until(b.now + 5*ms)
			}
		}
		b.until(b.now + time.Second)
		got := b.Seen(b.now).Rules
		if len(got) != len(reference) || slices.ContainsFunc(got, func(x southbound.Rule) bool {
			return reference[x.Match] != x
		}) {
			t.Fatalf("seed %d: rules are %v, want %v", seed, got, slices.Collect(maps.Values(reference)))
		}
		down := southbound.Port(r.IntN(8))
		b.Light(b.now, down, false)
		b.until(b.now + 10*ms)
		for dst := range southbound.RackID(4) {
			for src := range southbound.RackID(4) {
				for tag := range southbound.Tag(8) {
					want := slowLookup(reference, dst, src, tag, down)
					if got, ok := b.plane.Lookup(dst, src, tag); got != want || ok != (want != southbound.NoPort) {
						t.Fatalf("seed %d: packet %d→%d tag %d leaves by %d (%v), want %d", seed, src, dst, tag,
							got, ok, want)
					}
				}
			}
		}
	}
}

func randomRules(r *rand.Rand) *southbound.Change {
	match := func() southbound.Match {
		m := southbound.Match{Dst: southbound.RackID(r.Int32N(4)), Tag: southbound.Tag(r.IntN(4)),
			Src: southbound.RackID(r.Int32N(5)) - 1}
		if r.IntN(3) == 0 {
			m.Tag = southbound.AnyTag
		}
		return m
	}
	c := &southbound.Change{Replace: r.IntN(8) == 0}
	for range r.IntN(8) {
		n := southbound.Rule{Match: match(), Primary: southbound.Port(r.Int32N(8)),
			Backup: southbound.Port(r.Int32N(9)) - 1}
		if n.Primary == n.Backup {
			n.Backup = southbound.NoPort
		}
		if !slices.ContainsFunc(c.Rules, func(o southbound.Rule) bool { return o.Match == n.Match }) {
			c.Rules = append(c.Rules, n)
		}
	}
	for range r.IntN(4) {
		c.Drop = append(c.Drop, match())
	}
	return c
}

// slowLookup looks at every rule and keeps the most specific one.
func slowLookup(table map[southbound.Match]southbound.Rule, dst, src southbound.RackID, tag southbound.Tag,
	down southbound.Port) southbound.Port {
	best, found := -1, southbound.Rule{}
	for m, r := range table {
		if m.Dst != dst || m.Src != southbound.AnyRack && m.Src != src || m.Tag != southbound.AnyTag &&
			m.Tag != tag {
			continue
		}
		score := 0
		if m.Src != southbound.AnyRack {
			score += 2
		}
		if m.Tag != southbound.AnyTag {
			score++
		}
		if score > best {
			best, found = score, r
		}
	}
	switch {
	case best < 0:
		return southbound.NoPort
	case found.Primary != down:
		return found.Primary
	case found.Backup != down:
		return found.Backup
	}
	return southbound.NoPort
}
