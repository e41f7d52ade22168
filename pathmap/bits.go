package pathmap

import (
	"encoding/binary"
	"math/bits"
)

// bitWriter appends bits, the lowest first.
type bitWriter struct {
	bytes []byte
	word  uint64
	n     int // bits in word, below 8
}

func (w *bitWriter) at() int { return 8*len(w.bytes) + w.n }

func (w *bitWriter) reset() { w.bytes, w.word, w.n = w.bytes[:0], 0, 0 }

// putBits is how many bits one put may write.
const putBits = 56

// put writes the low n bits of v, n at most putBits.
func (w *bitWriter) put(v uint64, n int) {
	w.word |= v << w.n
	w.n += n
	if whole := w.n >> 3; whole > 0 {
		at := len(w.bytes) + whole
		w.bytes = binary.LittleEndian.AppendUint64(w.bytes, w.word)[:at]
		w.word >>= 8 * whole
		w.n &= 7
	}
}

// unary writes n ones and a zero.
func (w *bitWriter) unary(n int) {
	for ; n >= 16; n -= 16 {
		w.put(1<<16-1, 16)
	}
	w.put(1<<n-1, n+1)
}

// gamma writes v, at least 1: the number of its bits less one in unary, then those bits without the first.
func (w *bitWriter) gamma(v uint64) {
	n := bits.Len64(v) - 1
	w.unary(n)
	w.put(v&(1<<n-1), n)
}

// align ends the byte.
func (w *bitWriter) align() {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
}

// whole returns what was written, its last byte filled up with zeros. It is valid until the next put.
func (w *bitWriter) whole() []byte {
	w.align()
	return w.bytes
}

// wordBytes are to be behind all bits that are read, so that a word can be read anywhere.
const wordBytes = 8

// take returns what was written, with a word of zeros behind.
func (w *bitWriter) take() []byte {
	b := make([]byte, len(w.whole())+wordBytes)
	copy(b, w.bytes)
	return b
}

// copy writes the next n bits of r.
func (w *bitWriter) copy(r bitReader, n int) {
	for ; n > putBits; n -= putBits {
		w.put(r.take(putBits), putBits)
	}
	w.put(r.take(n), n)
}

// bitReader reads what a bitWriter wrote.
type bitReader struct {
	bytes []byte
	at    int // in bits
}

// wordBits is how many bits a word is sure to have.
const wordBits = 57

// word returns the next bits, at least wordBits of them.
func (r *bitReader) word() uint64 {
	return binary.LittleEndian.Uint64(r.bytes[r.at>>3:]) >> (r.at & 7)
}

func (r *bitReader) take(n int) uint64 {
	v := r.word() & (1<<n - 1)
	r.at += n
	return v
}

func (r *bitReader) unary() int {
	total := 0
	for {
		ones := min(bits.TrailingZeros64(^r.word()), 56)
		total += ones
		if r.at += ones; ones < 56 {
			r.at++
			return total
		}
	}
}

func (r *bitReader) gamma() int {
	n := r.unary()
	return 1<<n | int(r.take(n))
}
