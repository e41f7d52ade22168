package hostagent

import (
	"bytes"
	"math/rand/v2"

	"lightloom/southbound"
)

// period of the pattern: a prime, so that bytes that were shifted by a segment, a page or a power of
// two differ.
const period = 65521

// maxChunk bounds one write and one read.
const maxChunk = 256 << 10

// pattern is what host flows carry: byte o of a host flow is data[(salt+o) mod period], the salt being
// the host flow's own, so that bytes of another host flow differ too. It is read by all senders and
// written by none.
type pattern struct {
	data []byte // one period and then as much of the next ones as one chunk needs
}

func newPattern() *pattern {
	p := &pattern{data: make([]byte, period+maxChunk)}
	src := rand.New(rand.NewPCG(0x4c69676874, 0x6c6f6f6d)) // any fixed bytes do, both ends must agree
	for i := range p.data {
		if i < period {
			p.data[i] = byte(src.Uint32())
		} else {
			p.data[i] = p.data[i-period]
		}
	}
	return p
}

// salt is where in the pattern a host flow begins.
func salt(k southbound.HostFlowKey) int64 {
	h := uint64(uint32(k.Coflow))<<32 | uint64(uint32(k.Row))
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return int64(h % period)
}

// at returns n ≤ maxChunk bytes of a host flow from its byte o on. They must not be written to.
func (p *pattern) at(salt, o int64, n int) []byte {
	i := (salt + o) % period
	return p.data[i : i+int64(n)]
}

// match reports whether b is what a host flow carries from its byte o on.
func (p *pattern) match(salt, o int64, b []byte) bool { return bytes.Equal(b, p.at(salt, o, len(b))) }
