package mirred

import (
	"errors"
	"fmt"
	"slices"

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
	from  [2][]bool          // by bank and rack: its table of rules that name a source is there
	fan   uint32             // buckets of such a table, a power of two
}

func newRules(p *Plane) (*rules, error) {
	r := &rules{p: p, lit: make([]bool, len(p.Switch.Ports)), fan: sourceBuckets(p.Switch.Racks),
		at: block{nl: p.nl, link: -1, parent: p.Switch.Block, protocol: ipv4}}
	homed := p.Switch.Homed()
	if p.Switch.Sources && p.Switch.Racks > maxFrom {
		return nil, fmt.Errorf("rules that name sources, for %d racks: u32 holds those for %d: %w",
			p.Switch.Racks, maxFrom,
			southbound.ErrUnsupported)
	}
	if len(p.Switch.Ports) > maxPorts || len(homed) > maxHomed {
		return nil, fmt.Errorf("%d ports and %d racks: u32 holds %d and %d: %w", len(p.Switch.Ports),
			len(homed), maxPorts,
			maxHomed, southbound.ErrUnsupported)
	}
	for _, link := range p.Switch.Ports {
		if link == 0 {
			continue
		}
		if err := dataplane.Hook(p.nl, link, &p.Switch.Block); err != nil {
			return nil, err
		}
	}
	for port, link := range p.Switch.Ports {
		if link == 0 {
			continue
		}
		if err := r.at.addTable(lightTable+uint32(port), 1); err != nil {
			return nil, err
		}
		if err := r.Light(southbound.Port(port), true); err != nil {
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
		r.from[i] = make([]bool, p.Switch.Racks)
	}
	return r, r.link(r.bank)
}

// home makes the table of a rack whose hosts are on ports of this switch, and links it in. An address
// of the rack that no host has goes to the sink.
func (r *rules) home(i int, rack southbound.RackID) error {
	id := localTable + uint32(i)
	if err := r.at.addTable(id, 256); err != nil {
		return err
	}
	for _, l := range r.p.Switch.Locals {
		if l.Rack() != rack {
			continue
		}
		addr := l.Addr.As4()
		n := node{handle: knode(id, uint32(addr[3]), 1), link: lightTable + uint32(l.Port),
			action: r.p.sink.action()}
		n.keys = append(n.keys, toHost(addr))
		if err := r.at.put(n); err != nil {
			return err
		}
	}
	n := node{handle: knode(rootTable, 0, uint32(1+i)), link: id, hash: 0xff, hashAt: offDst,
		action: r.p.sink.action()}
	n.keys = append(n.keys, toRack(int32(rack)))
	return r.at.put(n)
}

// link swaps a bank in for every packet that is not for a host here: one store in the kernel.
func (r *rules) link(bank int) error {
	return r.at.put(node{handle: knode(rootTable, 0, 0xfff), link: bankTable + uint32(bank),
		hash: 0xff00, hashAt: offDst,
		action: r.p.sink.action()})
}

// Set is dataplane.Rules'. One rule that changes is one store in the kernel; more are a bank that is
// filled, then swapped in.
func (r *rules) Set(set []southbound.Rule, drop []southbound.Match, replace bool) error {
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

// store makes next the table that packets meet: one filter in place, or the idle bank, swapped in. The
// idle bank still holds an older table, so only the differences are written. (A packet is in a bank for
// about a microsecond, a swap takes hundreds: none is in the idle one.)
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
		if err = r.open(bank, e.Match); err != nil {
			break
		}
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

// slots are the filters of one rack in a bucket: the way to the table of sources, the tags, and any tag
// last.
const slots = southbound.Tags + 2

// node is a rule's filter: in its bank, in the bucket of its rack's low byte; or where it names a
// source, in the rack's own table, in the bucket of the source's.
func (r *rules) node(bank int, rule southbound.Rule) node {
	tag := uint32(rule.Tag)
	keys := 2
	if rule.Tag == southbound.AnyTag {
		tag, keys = southbound.Tags, 1
	}
	id, bucket, slot, key := bankTable+uint32(bank), uint32(rule.Dst)&0xff, uint32(rule.Dst)>>8, toRack(int32(rule.Dst))
	if rule.Src != southbound.AnyRack {
		id, bucket, slot, key = fromID(bank, rule.Dst), uint32(rule.Src)%r.fan, uint32(rule.Src)/r.fan,
			fromRack(int32(rule.Src))
	}
	n := node{handle: knode(id, bucket, slot*slots+tag+2),
		link: lightTable + uint32(rule.Primary), action: r.p.sink.action()}
	n.keys = append(n.keys, key, withTag(uint8(rule.Tag)))[:keys]
	if rule.Backup != southbound.NoPort {
		n.action = out(r.p.Switch.Ports[rule.Backup])
	}
	return n
}

// open makes the table of the rules of a match's rack that name a source, empty, and links it in before
// the rack's other rules, if the match is the first of its kind.
func (r *rules) open(bank int, m southbound.Match) error {
	if m.Src == southbound.AnyRack || r.from[bank][m.Dst] {
		return nil
	}
	id := fromID(bank, m.Dst)
	if err := r.at.addTable(id, r.fan); err != nil {
		return err
	}
	// Without an action of its own: what finds nothing there goes on to the rack's other rules.
	n := node{handle: knode(bankTable+uint32(bank), uint32(m.Dst)&0xff, uint32(m.Dst)>>8*slots+1),
		link: id, hash: 0xff00,
		hashAt: offSrc}
	n.keys = append(n.keys, toRack(int32(m.Dst)))
	if err := r.at.put(n); err != nil {
		return errors.Join(err, r.at.del(table(id)))
	}
	r.from[bank][m.Dst] = true
	return nil
}

// sourceBuckets returns the number of buckets over which the sources of the given number of racks are spread: a
// power of two, at most 256.
func sourceBuckets(racks int) uint32 {
	n := uint32(1)
	for int(n) < racks && n < 256 {
		n *= 2
	}
	return n
}

func fromID(bank int, dst southbound.RackID) uint32 {
	return fromTable + 2*uint32(dst) + uint32(bank)
}

// Light fills or empties the light table of a port: one store for all rules with that primary. The
// rules that have it as backup follow one by one.
func (r *rules) Light(port southbound.Port, lit bool) error {
	link, err := r.p.Switch.Link(port)
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
