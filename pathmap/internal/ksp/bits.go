package ksp

import (
	"encoding/binary"
	"math/bits"
)

// BitWriter appends bits, the lowest first.
type BitWriter struct {
	bytes []byte
	word  uint64
	n     int // bits in word, below 8
}

// At returns how many bits have been written.
func (w *BitWriter) At() int { return 8*len(w.bytes) + w.n }

// Reset forgets what was written, and keeps its memory.
func (w *BitWriter) Reset() { w.bytes, w.word, w.n = w.bytes[:0], 0, 0 }

// putBits is how many bits one put can write.
const putBits = 56

// put writes the low n bits of v, n at most putBits.
func (w *BitWriter) put(v uint64, n int) {
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
func (w *BitWriter) unary(n int) {
	for ; n >= 16; n -= 16 {
		w.put(1<<16-1, 16)
	}
	w.put(1<<n-1, n+1)
}

// gamma writes v, at least 1: the number of its bits less one in unary, then those bits without the first.
func (w *BitWriter) gamma(v uint64) {
	n := bits.Len64(v) - 1
	w.unary(n)
	w.put(v&(1<<n-1), n)
}

// align ends the byte.
func (w *BitWriter) align() {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
}

// whole returns what was written, its last byte filled up with zeros. It is valid until the next put.
func (w *BitWriter) whole() []byte {
	w.align()
	return w.bytes
}

// wordBytes are to be behind all bits that are read, so that a word can be read anywhere.
const wordBytes = 8

// take returns what was written, with a word of zeros behind.
func (w *BitWriter) take() []byte {
	b := make([]byte, len(w.whole())+wordBytes)
	copy(b, w.bytes)
	return b
}

// copy writes the next n bits of r.
func (w *BitWriter) copy(r BitReader, n int) {
	for ; n > putBits; n -= putBits {
		w.put(r.Take(putBits), putBits)
	}
	w.put(r.Take(n), n)
}

// BitReader reads what a BitWriter wrote.
type BitReader struct {
	bytes []byte
	At    int // in bits
}

// wordBits is how many bits a word is sure to have.
const wordBits = 57

// word returns the next bits, at least wordBits of them.
func (r *BitReader) word() uint64 {
	return binary.LittleEndian.Uint64(r.bytes[r.At>>3:]) >> (r.At & 7)
}

// Take reads n bits.
func (r *BitReader) Take(n int) uint64 {
	v := r.word() & (1<<n - 1)
	r.At += n
	return v
}

// Unary reads what unary wrote.
func (r *BitReader) Unary() int {
	total := 0
	for {
		ones := min(bits.TrailingZeros64(^r.word()), 56)
		total += ones
		if r.At += ones; ones < 56 {
			r.At++
			return total
		}
	}
}

// Gamma reads what gamma wrote.
func (r *BitReader) Gamma() int {
	n := r.Unary()
	return 1<<n | int(r.Take(n))
}
