package mirred

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// rules is the filters of one packet switch. Its caller holds the plane's lock.
type rules struct {
	p     *Plane
	at    block
	table dataplane.Table    // as wanted
	banks [2]dataplane.Table // as the kernel has it: without the backups that are dark
	bank  int                // the bank that is linked in
	lit   []bool             // by port
}

func newRules(p *Plane) (*rules, error) {
	r := &rules{p: p, lit: make([]bool, len(p.sw.Ports)),
		at: block{nl: p.nl, link: -1, parent: p.sw.Block, protocol: ipv4}}
	homed := p.sw.Homed()
	if len(p.sw.Ports) > maxPorts || len(homed) > maxHomed {
		return nil, fmt.Errorf("%d ports and %d racks: u32 holds %d and %d: %w", len(p.sw.Ports), len(homed), maxPorts, maxHomed, southbound.ErrUnsupported)
	}
	for _, link := range p.sw.Ports {
		if link == 0 {
			continue
		}
		if err := clsact(p.nl, link, &p.sw.Block); err != nil {
			return nil, err
		}
	}
	for port, link := range p.sw.Ports {
		if link == 0 {
			continue
		}
		if err := r.at.addTable(lightTable+uint32(port), 1); err != nil {
			return nil, err
		}
		if err := r.light(southbound.Port(port), true); err != nil {
			return nil, err
		}
	}
	for i, rack := range homed {
		if err := r.home(i, rack); err != nil {
			return nil, err
		}
	}
	for i := range r.banks {
		if err := r.at.addTable(bankTable+uint32(i), 256); err != nil {
			return nil, err
		}
	}
	return r, r.link(r.bank)
}

// home makes the table of a rack whose hosts are on ports of this switch, and links it in. An address of the rack that
// no host has goes to the sink.
func (r *rules) home(i int, rack southbound.RackID) error {
	id := localTable + uint32(i)
	if err := r.at.addTable(id, 256); err != nil {
		return err
	}
	for _, l := range r.p.sw.Locals {
		if l.Rack() != rack {
			continue
		}
		addr := l.Addr.As4()
		n := node{handle: knode(id, uint32(addr[3]), 1), link: lightTable + uint32(l.Port), action: r.p.sink.action()}
		n.keys = append(n.keys, toHost(addr))
		if err := r.at.put(n); err != nil {
			return err
		}
	}
	n := node{handle: knode(rootTable, 0, uint32(1+i)), link: id, hash: 0xff, action: r.p.sink.action()}
	n.keys = append(n.keys, toRack(int32(rack)))
	return r.at.put(n)
}

// link swaps a bank in for every packet that is not for a host here: one store in the kernel.
func (r *rules) link(bank int) error {
	return r.at.put(node{handle: knode(rootTable, 0, 0xfff), link: bankTable + uint32(bank), hash: 0xff00, action: r.p.sink.action()})
}

func (r *rules) set(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	for _, s := range set {
		if err := r.p.sw.CheckRule(s); err != nil {
			return err
		}
	}
	for _, m := range drop {
		if err := r.p.sw.CheckMatch(m); err != nil {
			return err
		}
	}
	next, err := r.table.Change(set, drop, replace)
	if err != nil {
		return err
	}
	if err := r.store(r.effective(next)); err != nil {
		return err
	}
	r.table = next
	return nil
}

// effective is a table without the backups that have no light.
func (r *rules) effective(t dataplane.Table) dataplane.Table {
	e := slices.Clone(t)
	for i := range e {
		if b := e[i].Backup; b != southbound.NoPort && !r.lit[b] {
			e[i].Backup = southbound.NoPort
		}
	}
	return e
}

// store makes next the table that packets meet: one filter in place, or the idle bank, swapped in. The idle bank still
// holds an older table, so only the differences are written. (A packet is in a bank for about a microsecond, a swap
// takes hundreds: none is in the idle one.)
func (r *rules) store(next dataplane.Table) error {
	switch edits := r.banks[r.bank].Edits(next); len(edits) {
	case 0:
		return nil
	case 1:
		return r.write(r.bank, edits)
	}
	idle := 1 - r.bank
	if err := r.write(idle, r.banks[idle].Edits(next)); err != nil {
		return err
	}
	if err := r.link(idle); err != nil {
		return err
	}
	r.bank = idle
	return nil
}

// write changes filters of a bank one by one, and keeps account of what the kernel took.
func (r *rules) write(bank int, edits []dataplane.Edit) error {
	var set []southbound.Rule
	var drop []southbound.Match
	var err error
	for _, e := range edits {
		n := r.node(bank, e.Rule)
		if e.Gone {
			if err = r.at.del(n.handle); err == nil {
				drop = append(drop, e.Match)
			}
		} else if err = r.at.put(n); err == nil {
			set = append(set, e.Rule)
		}
		if err != nil {
			break
		}
	}
	now, cerr := r.banks[bank].Change(set, drop, false)
	if cerr == nil {
		r.banks[bank] = now
	}
	return errors.Join(err, cerr)
}

// node is a rule's filter: in the bucket of its rack's low byte, tags before any, so that any comes last.
func (r *rules) node(bank int, rule southbound.Rule) node {
	tag := uint32(rule.Tag)
	keys := 2
	if rule.Tag == southbound.AnyTag {
		tag, keys = southbound.Tags, 1
	}
	n := node{handle: knode(bankTable+uint32(bank), uint32(rule.Dst)&0xff, uint32(rule.Dst)>>8*(southbound.Tags+1)+tag+1),
		link: lightTable + uint32(rule.Primary), action: r.p.sink.action()}
	n.keys = append(n.keys, toRack(int32(rule.Dst)), withTag(uint8(rule.Tag)))[:keys]
	if rule.Backup != southbound.NoPort {
		n.action = out(r.p.sw.Ports[rule.Backup])
	}
	return n
}

// light fills or empties the light table of a port: one store for all rules with that primary. The rules that have it
// as backup follow one by one.
func (r *rules) light(port southbound.Port, lit bool) error {
	link, err := r.p.sw.Link(port)
	if err != nil || r.lit[port] == lit {
		return err
	}
	handle := knode(lightTable+uint32(port), 0, 1)
	if lit {
		err = r.at.put(node{handle: handle, action: out(link)})
	} else {
		err = r.at.del(handle)
	}
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	r.lit[port] = lit
	return r.write(r.bank, r.banks[r.bank].Edits(r.effective(r.table)))
}

// gone forgets the errors that say a thing is not there.
func gone(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
