package ebpf

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"lightloom/emulator/dataplane/voq"
	"lightloom/southbound"
)

// dark queues packets of a ToR while its fibre is dark. A packet whose rule leads to the fibre looks at
// the word of its destination rack first: twice the packets that are queued for it, plus one while
// there is no light. It goes straight on only where the word is zero. So light and an empty queue let
// packets by at one and the same instant, the last one's leaving, and none overtakes another.
type dark struct {
	p    *Plane
	at   packetLayout
	voqs *voq.Queues
}

var _ voq.Gate = (*dark)(nil)

func newDark(p *Plane, l packetLayout) (*dark, error) {
	if _, err := p.Switch.Link(p.Switch.Dark.Fibre); err != nil {
		return nil, fmt.Errorf("fibre: %w", err)
	}
	d := &dark{p: p, at: l}
	var err error
	d.voqs, err = voq.Open(voq.Config{Link: p.Switch.Dark.Queue[1], Racks: l.racks, Limit: p.Switch.Dark.Limit,
		Room: p.Switch.Dark.Room, Gate: d})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// light holds every rack's packets, then takes the link away; or gives it, then lets them go.
func (d *dark) light(lit bool, store func()) {
	if lit {
		store()
	}
	for rack := range d.at.racks {
		w := d.p.mem.u64(d.at.waits + 8*rack)
		if lit {
			w.And(^uint64(1))
		} else {
			w.Or(1)
		}
	}
	if !lit {
		store()
	}
	d.voqs.Wake()
}

// Pass implements voq.Gate: a queued packet goes where the table of this moment leads it. Its rule can
// lead elsewhere by now, or to a backup; only the fibre is worth waiting for.
func (d *dark) Pass(f voq.Frame, send func(link int) voq.Verdict) voq.Verdict {
	dst, src, tag, ok := f.Route()
	d.p.Mu.Lock()
	defer d.p.Mu.Unlock()
	if d.p.Closed || !ok {
		return voq.Lost
	}
	r, ok := d.p.rules.table.Lookup(dst, src, tag)
	if !ok {
		return voq.Lost
	}
	for _, port := range []southbound.Port{r.Primary, r.Backup} {
		if port == southbound.NoPort {
			continue
		}
		if link := d.p.mem.u32(d.at.links + 4*int(code(port))).Load(); link != 0 {
			return send(int(link))
		}
		if code(port) == d.at.fibre && port == r.Primary {
			return voq.Held
		}
	}
	return voq.Lost
}

// Queued implements voq.Gate.
func (d *dark) Queued(rack southbound.RackID) int {
	return int(d.p.mem.u64(d.at.waits+8*int(rack)).Load() >> 1)
}

// Left implements voq.Gate. A packet that comes after it was given up has left already.
func (d *dark) Left(rack southbound.RackID, n int) {
	w := d.p.mem.u64(d.at.waits + 8*int(rack))
	for {
		old := w.Load()
		if w.CompareAndSwap(old, old-2*min(uint64(n), old>>1)) {
			return
		}
	}
}

// Queued returns what became of packets that met a dark circuit, by destination rack; nil where they
// are not queued.
func (p *Plane) Queued() []voq.Count {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Closed || p.dark == nil {
		return nil
	}
	return p.dark.voqs.Counts()
}

// wait parks a packet that the rule word in R0, whose primary is in R1, sends to the fibre while its
// rack's word is not zero. R7 is the packet's destination. The word is read before it is counted up, so
// that packets of a lit circuit without a queue write nothing; where it became zero between the two, it
// is counted down again.
func wait(l packetLayout) asm.Instructions {
	if l.fibre == 0 {
		return nil
	}
	p := asm.Instructions{
		asm.JNE.Imm(asm.R1, int32(l.fibre), "straight"),
		asm.Mov.Reg(asm.R4, asm.R7),
		asm.RSh.Imm(asm.R4, 8),
		asm.And.Imm(asm.R4, 0xffff),
	}
	p = append(p, index(asm.R3, asm.R4, l.racks, l.waits, 3, "drop")...)
	return append(p,
		asm.LoadMem(asm.R2, asm.R3, 0, asm.DWord),
		asm.JEq.Imm(asm.R2, 0, "straight"),
		asm.Mov.Imm(asm.R2, 2),
		asm.FetchAdd.Mem(asm.R3, asm.R2, asm.DWord, 0),
		asm.JNE.Imm(asm.R2, 0, "queue"),
		asm.Mov.Imm(asm.R2, -2),
		asm.AddAtomic.Mem(asm.R3, asm.R2, asm.DWord, 0),
		asm.Ja.Label("straight"),
		asm.Mov.Imm(asm.R1, int32(l.queue)).WithSymbol("queue"),
		asm.Ja.Label("send"),
		asm.Mov.Reg(asm.R1, asm.R1).WithSymbol("straight"),
	)
}
