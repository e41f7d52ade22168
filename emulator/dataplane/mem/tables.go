package mem

import (
	"fmt"
	"time"

	"lightloom/emulator/hashtable"
	"lightloom/southbound"
)

// Tables is the dataplane of one switch for one goroutine at a time.
type Tables struct {
	clock func() time.Duration

	rules   hashtable.Map[ports] // by the match's key
	kinds   [4]int               // rules of each kind: those of which there are none need not be looked for
	dark    []bool
	cross   []crossing
	dropped uint64
	gen     uint64
}

type ports struct{ primary, backup southbound.Port }

type crossing struct {
	out      southbound.Port
	litAfter time.Duration
}

// NewTables makes the plane of a switch with that many ports: no rules, no circuits, light on every
// port. clock gives the fabric's instant.
func NewTables(ports int32, clock func() time.Duration) *Tables {
	t := &Tables{clock: clock, dark: make([]bool, ports), cross: make([]crossing, ports)}
	for i := range t.cross {
		t.cross[i].out = southbound.NoPort
	}
	return t
}

// SetRules implements device.Plane.
func (t *Tables) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	for _, r := range set {
		if !t.has(r.Primary) || r.Backup != southbound.NoPort && !t.has(r.Backup) {
			return fmt.Errorf("set rule for rack %d: ports %d and %d: ports are 0 to %d", r.Dst,
				r.Primary, r.Backup,
				len(t.dark)-1)
		}
	}
	t.gen++
	if replace {
		t.rules.Clear()
		t.kinds = [4]int{}
	}
	for _, m := range drop {
		before := t.rules.Len()
		t.rules.Delete(m.Key())
		t.count(m, before)
	}
	for _, r := range set {
		before := t.rules.Len()
		t.rules.Set(r.Key(), ports{r.Primary, r.Backup})
		t.count(r.Match, before)
	}
	return nil
}

// count takes into account that a rule has come or gone, where there are not as many as before.
func (t *Tables) count(m southbound.Match, before int) {
	t.kinds[kind(m)] += t.rules.Len() - before
}

func (t *Tables) has(port southbound.Port) bool { return port >= 0 && int(port) < len(t.dark) }

// SetLight implements device.Plane.
func (t *Tables) SetLight(port southbound.Port, lit bool) error {
	if !t.has(port) {
		return fmt.Errorf("set light of port %d: ports are 0 to %d", port, len(t.dark)-1)
	}
	t.dark[port] = !lit
	t.gen++
	return nil
}

// Move implements device.Plane.
func (t *Tables) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	for _, in := range off {
		if !t.has(in) {
			return fmt.Errorf("move: input %d: inputs are 0 to %d", in, len(t.cross)-1)
		}
	}
	for _, c := range on {
		if !t.has(c.In) || !t.has(c.Out) {
			return fmt.Errorf("move: circuit %d→%d: ports are 0 to %d", c.In, c.Out, len(t.cross)-1)
		}
	}
	for _, in := range off {
		t.cross[in].out = southbound.NoPort
	}
	lit := t.clock() + dark
	for _, c := range on {
		t.cross[c.In] = crossing{c.Out, lit}
	}
	t.gen++
	return nil
}

// Dropped implements device.Plane.
func (t *Tables) Dropped() (uint64, error) {
	return t.dropped, nil
}

// Drop counts n packets that met a dark or unmatched port.
func (t *Tables) Drop(n uint64) {
	t.dropped += n
}

// Lookup returns the port that a packet for rack dst from rack src with that tag leaves by; false means
// it is dropped. A rule with the source wins over one without, then one with the tag over AnyTag. The
// rule that wins decides: its primary port, or its backup while the primary has no light.
func (t *Tables) Lookup(dst, src southbound.RackID, tag southbound.Tag) (southbound.Port, bool) {
	for _, m := range [...]southbound.Match{
		{Dst: dst, Src: src, Tag: tag}, {Dst: dst, Src: src, Tag: southbound.AnyTag},
		{Dst: dst, Src: southbound.AnyRack, Tag: tag}, {Dst: dst, Src: southbound.AnyRack,
			Tag: southbound.AnyTag},
	} {
		if t.kinds[kind(m)] == 0 {
			continue
		}
		w, ok := t.rules.Get(m.Key())
		switch {
		case !ok:
			continue
		case !t.dark[w.primary]:
			return w.primary, true
		case w.backup != southbound.NoPort && !t.dark[w.backup]:
			return w.backup, true
		}
		return southbound.NoPort, false
	}
	return southbound.NoPort, false
}

// kind returns which of four kinds a match is of: with a source or not, and with a tag or not.
func kind(m southbound.Match) (k int) {
	if m.Src != southbound.AnyRack {
		k += 2
	}
	if m.Tag != southbound.AnyTag {
		k++
	}
	return k
}

// Foresee prefetches the memory that a Lookup mostly reads first, that of rules with a tag, and returns its content.
// It does not wait for the read, so that cache misses of several calls overlap.
func (t *Tables) Foresee(dst, src southbound.RackID, tag southbound.Tag) uint32 {
	if t.kinds[2]+t.kinds[3] == 0 {
		src = southbound.AnyRack
	}
	return uint32(t.rules.Foresee(southbound.Match{Dst: dst, Src: src, Tag: tag}.Key()))
}

// Cross returns the output that light at an input leaves by at now; false means it is dark.
func (t *Tables) Cross(now time.Duration, in southbound.Port) (southbound.Port, bool) {
	if !t.has(in) {
		return southbound.NoPort, false
	}
	c := t.cross[in]
	if c.out == southbound.NoPort || now < c.litAfter {
		return southbound.NoPort, false
	}
	return c.out, true
}

// LitAfter returns the output that an input is set to and the instant from which light passes; false if
// it is set to none.
func (t *Tables) LitAfter(in southbound.Port) (out southbound.Port, at time.Duration, ok bool) {
	if !t.has(in) || t.cross[in].out == southbound.NoPort {
		return southbound.NoPort, 0, false
	}
	return t.cross[in].out, t.cross[in].litAfter, true
}

// Generation changes with every change of the plane (but not with the end of a dark time): what was
// looked up under the same generation still holds.
func (t *Tables) Generation() uint64 {
	return t.gen
}
