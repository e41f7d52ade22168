package ebpf

import (
	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// Every value starts with the generation and the count of dropped packets.
const (
	offGen     = 0
	offDropped = 8
	offRest    = 16
	banks      = 3
)

// packetLayout is where things are in a packet switch's memory. A port's code is its number plus one; 0
// is no port.
//
// A switch whose rules name sources has a word for each source, too: a lookup costs the same, but the
// table the racks times as much.
type packetLayout struct {
	ports, racks, homed int
	sources             int    // racks that a rule can match as sources; 1: none
	links               int    // u32 by code: the interface, 0 while dark
	homes               int    // u32 by rack: 256 × the place of the rack among those with hosts here plus one, 0: none
	locals              int    // u32 by (place, last byte): a code
	rules               int    // u64 by (bank, source, rack, tag): primary code | backup code << 32
	fibre               uint32 // code of the port whose packets are queued while it is dark; 0: none are
	queue               int    // interface that they are sent to
	waits               int    // u64 by rack: 2 × the packets that are queued, plus one while the fibre is dark
	size                int
}

func newPacketLayout(sw *dataplane.Switch) packetLayout {
	l := packetLayout{ports: len(sw.Ports), racks: sw.Racks, homed: len(sw.Homed()), sources: 1}
	if sw.Sources {
		l.sources = sw.Racks
	}
	l.links = offRest
	l.homes = l.links + 4*(l.ports+1)
	l.locals = l.homes + 4*l.racks
	l.rules = (l.locals + 4*256*(l.homed+1) + 7) &^ 7
	l.size = l.rules + 8*banks*l.cells()
	if sw.Dark.Limit > 0 {
		l.fibre, l.queue, l.waits = code(sw.Dark.Fibre), sw.Dark.Queue[0], l.size
		l.size += 8 * l.racks
	}
	return l
}

// cells is the number of rule words of one bank.
func (l packetLayout) cells() int { return l.sources * l.racks * southbound.Tags }

func (l packetLayout) rule(bank, cell int) int { return l.rules + 8*(bank*l.cells()+cell) }

func code(p southbound.Port) uint32 { return uint32(p + 1) }

// word is a rule as the program reads it: one load, so never half of it.
func word(r southbound.Rule) uint64 { return uint64(code(r.Primary)) | uint64(code(r.Backup))<<32 }

// expand writes a table as rule words. A word that no rule has of its own is filled by the next best:
// the source's rule for any tag, then the rules for any source, for the tag and for any.
func expand(t dataplane.Table, l packetLayout) []uint64 {
	cells := make([]uint64, l.cells())
	for _, own := range []bool{true, false} { // rules for one source first
		for _, anyTag := range []bool{false, true} {
			for _, r := range t {
				if (r.Src != southbound.AnyRack) == own && (r.Tag == southbound.AnyTag) == anyTag {
					fill(cells, l, r)
				}
			}
		}
	}
	return cells
}

// fill writes a rule into the words that it matches and that are empty.
func fill(cells []uint64, l packetLayout, r southbound.Rule) {
	from, to := 0, l.sources
	if r.Src != southbound.AnyRack {
		from, to = int(r.Src), int(r.Src)+1
	}
	tag, tags := int(r.Tag), int(r.Tag)+1
	if r.Tag == southbound.AnyTag {
		tag, tags = 0, southbound.Tags
	}
	w := word(r)
	for s := from; s < to; s++ {
		row := cells[(s*l.racks+int(r.Dst))*southbound.Tags:]
		for i := tag; i < tags; i++ {
			if row[i] == 0 {
				row[i] = w
			}
		}
	}
}

// opticalLayout is where things are in an OCS's memory.
type opticalLayout struct {
	ports, links int // links: one more than the highest interface index
	inputs       int // u32 by interface: the input's code
	bar          int // by input: u64 instant from which it is lit, u64 interface of the output
	size         int
}

func newOpticalLayout(sw *dataplane.Switch) opticalLayout {
	l := opticalLayout{ports: len(sw.Ports)}
	for _, link := range sw.Ports {
		l.links = max(l.links, link+1)
	}
	l.inputs = offRest
	l.bar = (l.inputs + 4*l.links + 7) &^ 7
	l.size = l.bar + 16*(l.ports+1)
	return l
}

func (l opticalLayout) litAfter(in southbound.Port) int { return l.bar + 16*int(code(in)) }
func (l opticalLayout) output(in southbound.Port) int   { return l.litAfter(in) + 8 }
