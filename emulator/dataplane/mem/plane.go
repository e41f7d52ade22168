// Package mem is a dataplane in memory: the same tables, lights and dark times as in the kernel, asked packet by packet
// or flow by flow. The simulator walks it, and tests hold the kernel's dataplanes against it.
//
// It moves no packet itself and has no queues.
package mem

import (
	"fmt"
	"sync"
	"time"

	"lightloom/emulator/keyed"
	"lightloom/southbound"
)

// Plane is the dataplane of one switch. It is safe for several goroutines.
type Plane struct {
	clock func() time.Duration

	mu      sync.RWMutex
	rules   keyed.Map[way] // by the match's key
	sourced int            // rules that name a source
	dark    []bool
	cross   []crossing
	dropped uint64
	gen     uint64
}

type way struct{ primary, backup southbound.Port }

type crossing struct {
	out      southbound.Port
	litAfter time.Duration
}

// New makes the plane of a switch with that many ports: no rules, no circuits, light on every port. clock gives the
// fabric's instant.
func New(ports int32, clock func() time.Duration) *Plane {
	p := &Plane{clock: clock, dark: make([]bool, ports), cross: make([]crossing, ports)}
	for i := range p.cross {
		p.cross[i].out = southbound.NoPort
	}
	return p
}

// SetRules implements device.Plane.
func (p *Plane) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range set {
		if !p.has(r.Primary) || r.Backup != southbound.NoPort && !p.has(r.Backup) {
			return fmt.Errorf("set rule for rack %d: ports %d and %d: ports are 0 to %d", r.Dst, r.Primary, r.Backup, len(p.dark)-1)
		}
	}
	p.gen++
	if replace {
		p.rules.Clear()
		p.sourced = 0
	}
	for _, m := range drop {
		p.count(m, -1)
		p.rules.Delete(m.Key())
	}
	for _, r := range set {
		p.count(r.Match, 1)
		p.rules.Set(r.Key(), way{r.Primary, r.Backup})
	}
	return nil
}

// count keeps sourced up to date before a rule comes (n 1) or goes (-1).
func (p *Plane) count(m southbound.Match, n int) {
	if m.Src == southbound.AnyRack {
		return
	}
	if _, there := p.rules.Get(m.Key()); there == (n < 0) {
		p.sourced += n
	}
}

func (p *Plane) has(port southbound.Port) bool { return port >= 0 && int(port) < len(p.dark) }

// SetLight implements device.Plane.
func (p *Plane) SetLight(port southbound.Port, lit bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.has(port) {
		return fmt.Errorf("set light of port %d: ports are 0 to %d", port, len(p.dark)-1)
	}
	p.dark[port] = !lit
	p.gen++
	return nil
}

// Move implements device.Plane.
func (p *Plane) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range off {
		if !p.has(in) {
			return fmt.Errorf("move: input %d: inputs are 0 to %d", in, len(p.cross)-1)
		}
	}
	for _, c := range on {
		if !p.has(c.In) || !p.has(c.Out) {
			return fmt.Errorf("move: circuit %d→%d: ports are 0 to %d", c.In, c.Out, len(p.cross)-1)
		}
	}
	for _, in := range off {
		p.cross[in].out = southbound.NoPort
	}
	lit := p.clock() + dark
	for _, c := range on {
		p.cross[c.In] = crossing{c.Out, lit}
	}
	p.gen++
	return nil
}

// Dropped implements device.Plane.
func (p *Plane) Dropped() (uint64, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.dropped, nil
}

// Drop counts n packets that met a dark or unmatched port.
func (p *Plane) Drop(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped += n
}

// Lookup returns the port that a packet for rack dst from rack src with that tag leaves by; false means it is dropped.
// A rule with the source wins over one without, then one with the tag over AnyTag. The rule that wins decides: its
// primary port, or its backup while the primary has no light.
func (p *Plane) Lookup(dst, src southbound.RackID, tag southbound.Tag) (southbound.Port, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	asked := [...]southbound.Match{
		{Dst: dst, Src: src, Tag: tag}, {Dst: dst, Src: src, Tag: southbound.AnyTag},
		{Dst: dst, Src: southbound.AnyRack, Tag: tag}, {Dst: dst, Src: southbound.AnyRack, Tag: southbound.AnyTag},
	}
	first := 0
	if p.sourced == 0 {
		first = 2 // tables are large, and each look into one costs
	}
	for _, m := range asked[first:] {
		w, ok := p.rules.Get(m.Key())
		switch {
		case !ok:
			continue
		case !p.dark[w.primary]:
			return w.primary, true
		case w.backup != southbound.NoPort && !p.dark[w.backup]:
			return w.backup, true
		}
		return southbound.NoPort, false
	}
	return southbound.NoPort, false
}

// Cross returns the output that light at an input leaves by at now; false means it is dark.
func (p *Plane) Cross(now time.Duration, in southbound.Port) (southbound.Port, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.has(in) {
		return southbound.NoPort, false
	}
	c := p.cross[in]
	if c.out == southbound.NoPort || now < c.litAfter {
		return southbound.NoPort, false
	}
	return c.out, true
}

// LitAfter returns the output that an input is set to and the instant from which light passes; false if it is set to
// none.
func (p *Plane) LitAfter(in southbound.Port) (out southbound.Port, at time.Duration, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.has(in) || p.cross[in].out == southbound.NoPort {
		return southbound.NoPort, 0, false
	}
	return p.cross[in].out, p.cross[in].litAfter, true
}

// Generation changes with every change of the plane (but not with the end of a dark time): what was looked up under
// the same generation still holds.
func (p *Plane) Generation() uint64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.gen
}
