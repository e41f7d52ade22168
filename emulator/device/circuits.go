package device

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
)

// circuit is one cross-connect from its acceptance until it is gone.
type circuit struct {
	in, out   southbound.Port
	status    southbound.Status
	applied   bool // the change that asked for it has been applied
	made      bool // the plane has it: light passes from litFrom on
	void      bool // taken back while nothing of it was lit: whatever was planned for it is off
	told      bool // OnLight has reported that it is lit
	litFrom   time.Duration
	connectAt time.Duration
	took      Took
	epoch     uint32 // of its last move: transitions of an earlier one are void
}

// crossbar is the state of an OCS. An input has at most one circuit that is wanted, and perhaps others
// that are leaving.
type crossbar struct {
	byIn, byOut []*circuit // wanted
	leaving     []*circuit // in the order of their deletion
	forgotten   []*circuit // lit, and not accepted any more: no change removes them
	log         litLog
	used        []bool    // memory of checks
	kept        []bool    // memory of diff
	blank       []circuit // not used yet
	op          circuitChange
	ins         []southbound.Port // memory of move
	conns       []southbound.CrossConnect
}

// circuitChange is one accepted change.
type circuitChange struct {
	off, on []*circuit
}

func newCrossbar(ports int32, logSize int) crossbar {
	return crossbar{byIn: make([]*circuit, ports), byOut: make([]*circuit, ports), log: litLog{size: logSize},
		used: make([]bool, 2*ports), kept: make([]bool, ports)}
}

// all returns the wanted circuits by input, then those that are leaving or forgotten.
func (x *crossbar) all() []*circuit {
	var out []*circuit
	for _, c := range x.byIn {
		if c != nil {
			out = append(out, c)
		}
	}
	return append(append(out, x.leaving...), x.forgotten...)
}

func (x *crossbar) seen() []southbound.Connection {
	var out []southbound.Connection
	for _, c := range x.all() {
		out = append(out, southbound.Connection{In: c.in, Out: c.out, Status: c.status})
	}
	slices.SortFunc(out, func(a, b southbound.Connection) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out), cmp.Compare(a.Status, b.Status))
	})
	return out
}

func (x *crossbar) accepted() []southbound.CrossConnect {
	var out []southbound.CrossConnect
	for _, c := range x.byIn {
		if c != nil {
			out = append(out, southbound.CrossConnect{In: c.in, Out: c.out})
		}
	}
	return out
}

func (x *crossbar) want(c *circuit) { x.byIn[c.in], x.byOut[c.out] = c, c }

func (x *crossbar) unwant(c *circuit) { x.byIn[c.in], x.byOut[c.out] = nil, nil }

func (d *Device) checkCircuits(c *southbound.Change) error {
	used := d.xbar.used
	clear(used)
	inUsed, outUsed := used[:d.cfg.Ports], used[d.cfg.Ports:]
	for _, x := range c.Connect {
		switch {
		case x.In < 0 || int32(x.In) >= d.cfg.Ports:
			return fmt.Errorf("connect input %d: inputs are 0 to %d", x.In, d.cfg.Ports-1)
		case inUsed[x.In]:
			return fmt.Errorf("connect input %d: it is used twice in one change", x.In)
		case !x.Off && (x.Out < 0 || int32(x.Out) >= d.cfg.Ports):
			return fmt.Errorf("connect output %d: outputs are 0 to %d", x.Out, d.cfg.Ports-1)
		case !x.Off && outUsed[x.Out]:
			return fmt.Errorf("connect output %d: it is used twice in one change", x.Out)
		}
		inUsed[x.In] = true
		if !x.Off {
			outUsed[x.Out] = true
		}
	}
	return nil
}

// setCircuits takes a checked change.
func (d *Device) setCircuits(c *southbound.Change) {
	op := d.xbar.diff(c)
	if len(op.off) == 0 && len(op.on) == 0 {
		return
	}
	slices.SortFunc(op.off, byInput)
	slices.SortFunc(op.on, byInput)
	off := op.off[:0]
	for _, c := range op.off {
		if !c.made {
			c.void = true // no mirror holds it: it is gone at once
			d.status(c, southbound.Disconnected)
			continue
		}
		off = append(off, c)
		d.xbar.leaving = append(d.xbar.leaving, c)
		d.status(c, southbound.PendingDeletion)
	}
	op.off = off
	on := op.on[:0]
	for _, c := range op.on {
		if old := d.xbar.cancelDeletion(c); old == nil {
			on = append(on, c)
			d.status(c, southbound.PendingConnection)
		} else if old.told {
			d.status(old, southbound.Connected)
		} else {
			d.status(old, southbound.PendingConnection)
		}
	}
	op.on = on
	if len(op.off)+len(op.on) == 0 {
		return
	}
	at := d.drawApply(op)
	if next, ok := d.agenda.next(); at <= d.now && (!ok || next > d.now) { // nothing comes before it
		d.now = d.stamp(at)
		d.applyCircuits(op)
		return
	}
	d.applyLater(at, op.clone())
}

// drawApply draws when a change is applied, and has its circuits know.
func (d *Device) drawApply(op *circuitChange) time.Duration {
	at := d.applyAt()
	for _, c := range op.on {
		c.took.Apply = at - d.now
	}
	return at
}

func (d *Device) applyLater(at time.Duration, op *circuitChange) {
	d.agenda.add(item{at: at, run: func(time.Duration) { d.applyCircuits(op) }})
}

func (op *circuitChange) clone() *circuitChange {
	return &circuitChange{off: slices.Clone(op.off), on: slices.Clone(op.on)}
}

// cancelDeletion looks for a circuit of the same pair whose deletion has not been applied, or which has been forgotten,
// and makes it wanted again in c's place: an existing circuit that is requested again never goes dark. A circuit
// that was to displace it is void by now, or c could not be wanted.
func (x *crossbar) cancelDeletion(c *circuit) *circuit {
	for _, list := range []*[]*circuit{&x.leaving, &x.forgotten} {
		i := slices.IndexFunc(*list, func(o *circuit) bool { return o.made && o.in == c.in && o.out == c.out })
		if i < 0 {
			continue
		}
		old := (*list)[i]
		*list = slices.Delete(*list, i, i+1)
		x.want(old)
		return old
	}
	return nil
}

// held reports whether a forgotten circuit has one of a circuit's ports.
func (x *crossbar) held(c *circuit) bool {
	return slices.ContainsFunc(x.forgotten, func(o *circuit) bool { return o.in == c.in || o.out == c.out })
}

func byInput(a, b *circuit) int {
	if a.in != b.in {
		return cmp.Compare(a.in, b.in)
	}
	return cmp.Compare(a.out, b.out)
}

// diff changes what is wanted and returns what that takes. Borrowed until the next call.
func (x *crossbar) diff(c *southbound.Change) *circuitChange {
	op := &x.op
	op.off, op.on = op.off[:0], op.on[:0]
	remove := func(old *circuit) {
		if old != nil {
			x.unwant(old)
			op.off = append(op.off, old)
		}
	}
	keep := x.kept
	clear(keep)
	for _, n := range c.Connect {
		old := x.byIn[n.In]
		switch {
		case n.Off:
			remove(old)
		case old != nil && old.out == n.Out && old.status != southbound.Failed:
			keep[n.In] = true
		}
	}
	if c.Replace {
		for in, old := range x.byIn {
			if !keep[in] {
				remove(old)
			}
		}
	}
	for _, n := range c.Connect {
		if n.Off || keep[n.In] {
			continue
		}
		remove(x.byIn[n.In])
		remove(x.byOut[n.Out])
		made := x.newCircuit()
		made.in, made.out = n.In, n.Out
		x.want(made)
		op.on = append(op.on, made)
	}
	return op
}

// newCircuit returns a circuit that was never used: the agenda can still refer to deleted ones.
// Circuits are allocated in slabs, since each move takes one.
func (x *crossbar) newCircuit() *circuit {
	if len(x.blank) == 0 {
		x.blank = make([]circuit, 32)
	}
	c := &x.blank[0]
	x.blank = x.blank[1:]
	return c
}

func (d *Device) status(c *circuit, s southbound.Status) {
	c.status = s
	d.emit(southbound.ConnectionStatus, c.in, c.out, s)
}

// applyCircuits is the instant at which mirrors move.
func (d *Device) applyCircuits(op *circuitChange) {
	on, idle, spoilt := d.pick(op.on)
	gone := slices.DeleteFunc(op.off, func(c *circuit) bool { return !slices.Contains(d.xbar.leaving, c) })
	off := gone
	if d.cfg.AllStop && len(on)+len(off) > 0 {
		on, off = d.stopAll(on, off)
	}
	err := d.move(off, on)
	for _, c := range gone {
		if i := slices.Index(d.xbar.leaving, c); i >= 0 {
			d.xbar.leaving = slices.Delete(d.xbar.leaving, i, i+1)
		}
		d.status(c, southbound.Disconnected)
	}
	for _, c := range idle {
		d.status(c, southbound.Failed)
	}
	for _, c := range spoilt {
		d.status(c, southbound.Invalid)
	}
	if err != nil {
		d.fail(fmt.Errorf("move mirrors: %w", err))
		for _, c := range on {
			d.status(c, southbound.Failed)
		}
	}
}

// pick marks circuits as applied and returns those that will be lit, in place, those that fail, and
// those that are invalid.
func (d *Device) pick(all []*circuit) (on, failed, spoilt []*circuit) {
	on = all[:0]
	for _, c := range all {
		if c.void {
			continue
		}
		c.applied = true
		switch {
		case d.xbar.held(c), d.hits(Stick, c.in):
		case d.hits(Fail, c.in):
			failed = append(failed, c)
		case d.hits(Spoil, c.in):
			spoilt = append(spoilt, c)
		default:
			on = append(on, c)
		}
	}
	return on, failed, spoilt
}

// stopAll adds every other circuit that has light or waits for it: they go dark with the ones that move.
func (d *Device) stopAll(on, off []*circuit) (_, _ []*circuit) {
	off = slices.Clone(off)
	for _, c := range d.xbar.all() {
		if !c.made || slices.Contains(off, c) {
			continue
		}
		off = append(off, c)
		if c.status == southbound.PendingDeletion {
			continue
		}
		on = append(on, c)
		if c.status != southbound.PendingConnection {
			d.status(c, southbound.PendingConnection)
		}
	}
	slices.SortFunc(on, byInput)
	return on, off
}

// move applies a change to the plane, which keeps the circuits dark for the drawn time, and plans the
// rest of each move.
func (d *Device) move(off, on []*circuit) error {
	ins, conns := d.xbar.ins[:0], d.xbar.conns[:0]
	for _, c := range off {
		// What another one displaces goes by itself; one that is made again must be named, or the plane lets it stand.
		if c.made && !slices.ContainsFunc(on, func(o *circuit) bool { return o.in == c.in && o != c }) {
			ins = append(ins, c.in)
		}
		d.darken(c)
	}
	for _, c := range on {
		conns = append(conns, southbound.CrossConnect{In: c.in, Out: c.out})
	}
	d.xbar.ins, d.xbar.conns = ins, conns
	if len(ins) == 0 && len(conns) == 0 {
		return nil
	}
	dark := d.cfg.Delays.Dark.Draw(d.darkRand)
	if err := d.cfg.Plane.Move(ins, conns, dark); err != nil {
		return err
	}
	d.now = d.stamp(d.now)
	d.stage("dark", dark)
	for _, c := range on {
		c.made = true
		c.litFrom = d.now + dark
		lock := d.cfg.Delays.Lock.Draw(d.lockRand)
		d.stage("lock", lock)
		c.connectAt = c.litFrom + lock
		c.took.Known, c.took.Dark, c.took.Lock = true, dark, lock
		d.lockAt(c, c.connectAt)
	}
	return nil
}

// lockAt plans the instant at which the receiver has locked.
func (d *Device) lockAt(c *circuit, at time.Duration) {
	c.epoch++
	d.agenda.add(item{at: at, circuit: c, epoch: c.epoch})
}

// locked is the instant at which the receiver has locked.
func (d *Device) locked(c *circuit) {
	if !c.made {
		return
	}
	d.lightChanged(c, true)
	if c.status == southbound.PendingConnection {
		d.status(c, southbound.Connected)
	}
}

// darken ends a circuit's light.
func (d *Device) darken(c *circuit) {
	c.epoch++
	if c.made && c.litFrom < d.now {
		lit := d.xbar.log.add()
		lit.In, lit.Out, lit.From, lit.To = c.in, c.out, c.litFrom, d.now
		if lit.Took = c.took; d.cfg.OnLit != nil {
			d.cfg.OnLit(*lit)
		}
	}
	c.made = false
	d.lightChanged(c, false)
}

func (d *Device) lightChanged(c *circuit, lit bool) {
	if c.told == lit {
		return
	}
	c.told = lit
	if d.cfg.OnLight != nil {
		d.cfg.OnLight(d.now, c.in, lit)
	}
}
