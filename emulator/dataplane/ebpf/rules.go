package ebpf

import (
	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// rules is the memory of one packet switch. Its caller holds the plane's lock.
type rules struct {
	p     *Plane
	at    packetLayout
	table dataplane.Table
	cells []uint64 // the table as the bank in use holds it
}

func newRules(p *Plane, l packetLayout) *rules {
	r := &rules{p: p, at: l, cells: make([]uint64, l.cells())}
	for i, rack := range p.Switch.Homed() {
		p.mem.u32(l.homes + 4*int(rack)).Store(uint32(256 * (i + 1)))
		for _, h := range p.Switch.Locals {
			if h.Rack() == rack {
				p.mem.u32(l.locals + 4*(256*(i+1)+int(h.Addr.As4()[3]))).Store(code(h.Port))
			}
		}
	}
	for port, link := range p.Switch.Ports {
		p.mem.u32(l.links + 4*int(code(southbound.Port(port)))).Store(uint32(link))
	}
	return r
}

// Set is dataplane.Rules'.
func (r *rules) Set(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	next, err := r.table.Change(set, drop, replace)
	if err != nil {
		return err
	}
	r.table = next
	r.store(expand(next, r.at))
	if d := r.p.dark; d != nil {
		d.voqs.Wake() // what is queued may have another way now
	}
	return nil
}

// store makes cells the table: one word in place, or an idle bank and one store of the generation.
func (r *rules) store(cells []uint64) {
	changed, last := 0, 0
	for i := range cells {
		if cells[i] != r.cells[i] {
			changed, last = changed+1, i
		}
	}
	r.cells = cells
	gen := r.p.mem.u64(offGen)
	switch g := gen.Load(); changed {
	case 0:
	case 1:
		r.p.mem.u64(r.at.rule(int(g%banks), last)).Store(cells[last])
	default:
		bank := int((g + 1) % banks)
		for i, w := range cells {
			r.p.mem.u64(r.at.rule(bank, i)).Store(w)
		}
		gen.Store(g + 1)
	}
}

// Light is one store, which every rule sees.
func (r *rules) Light(port southbound.Port, lit bool) error {
	link, err := r.p.Switch.Link(port)
	if err != nil {
		return err
	}
	if !lit {
		link = 0
	}
	store := func() { r.p.mem.u32(r.at.links + 4*int(code(port))).Store(uint32(link)) }
	if d := r.p.dark; d != nil && code(port) == r.at.fibre {
		d.light(lit, store)
		return nil
	}
	store()
	return nil
}
