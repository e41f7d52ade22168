package replica

import (
	"encoding/binary"
	"slices"

	"github.com/hashicorp/raft"
)

// A large entry goes through the log in parts, each an entry of raft's own, so that no message, write
// or copy of it is long: what takes a processor without a pause keeps heartbeats waiting. With the last
// part it is applied.
const (
	// partBytes is what one part holds by default: raft's transport reads as much at a time, and copies
	// anew what it has read of a longer one before it reads on.
	partBytes = 256 << 10
	// partsAtOnce is how many are under way at once, so that other entries come between them.
	partsAtOnce = appendBatch
	maxParts    = 1 << 13
)

// part is which part of an entry an entry of the log is.
type part struct{ number, of uint32 }

// partSize is a fence and a part.
const partSize = 8 + 4 + 4

func (p part) encode(term uint64) []byte {
	b := make([]byte, 8, partSize) // a fence, if of no term
	binary.BigEndian.PutUint64(b, term)
	b = binary.BigEndian.AppendUint32(b, p.number)
	return binary.BigEndian.AppendUint32(b, p.of)
}

func decodePart(ext []byte) (p part, is bool) {
	if len(ext) != partSize {
		return p, false
	}
	return part{binary.BigEndian.Uint32(ext[8:]), binary.BigEndian.Uint32(ext[12:])}, true
}

// partsOf are the entries of the log that hold an entry, of at most so many bytes each.
func partsOf(entry []byte, term uint64, most int) (all []raft.Log) {
	of := uint32((len(entry) + most - 1) / most)
	for data := range slices.Chunk(entry, most) {
		all = append(all, raft.Log{Data: slices.Clone(data),
			Extensions: part{uint32(len(all)), of}.encode(term)})
	}
	return all
}

// pending is the parts of an entry whose last one has not come. They follow each other, with other
// entries between, and are all of one leader's term: where one is missing, the rest is dropped. It
// depends on the log alone, so that every replica drops the same.
type pending struct {
	of   uint32 // 0: there is none
	term uint64
	data [][]byte
}

// add takes a part. whole is the entry once it is; a part that does not follow is dropped with those
// before it.
func (p *pending) add(l *raft.Log, x part) (whole []byte, dropped bool) {
	if x.number == 0 {
		*p = pending{of: x.of, term: l.Term}
	}
	if x.of != p.of || x.of > maxParts || l.Term != p.term || int(x.number) != len(p.data) ||
		x.number >= x.of {
		p.drop()
		return nil, true
	}
	if p.data = append(p.data, l.Data); len(p.data) < int(p.of) {
		return nil, false
	}
	size := 0
	for _, d := range p.data {
		size += len(d)
	}
	whole = make([]byte, 0, size)
	for _, d := range p.data {
		whole = append(whole, d...)
	}
	p.drop()
	return whole, false
}

func (p *pending) drop() { *p = pending{} }

// since drops parts of a leader before that of an entry: the others will not come any more.
func (p *pending) since(term uint64) {
	if p.of > 0 && term > p.term {
		p.drop()
	}
}
