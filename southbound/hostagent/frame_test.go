package hostagent

import (
	"bytes"
	"testing"

	"lightloom/southbound"
)

func FuzzReadHeader(f *testing.F) {
	key := []byte("key")
	f.Add(header{key: southbound.HostFlowKey{Coflow: 3, Row: 4}, size: 5, src: 1, dst: 2,
		ask: true}.appendTo(nil, key),
		true)
	f.Add([]byte("LLB1"), false)
	f.Add(bytes.Repeat([]byte{0xff}, headerBytes), true)
	f.Fuzz(func(t *testing.T, b []byte, sign bool) {
		if sign && len(b) == headerBytes { // past the authentication
			b = append(b[:headerBytes-macBytes:headerBytes-macBytes], mac(b[:headerBytes-macBytes], key)...)
		}
		h, err := readHeader(b, key)
		if err != nil {
			return
		}
		if got := h.appendTo(nil, key); !bytes.Equal(got, b) {
			t.Errorf("%x reads as %+v, which is written %x", b, h, got)
		}
		if h.size <= 0 {
			t.Errorf("size %d", h.size)
		}
	})
}

func FuzzReadReply(f *testing.F) {
	f.Add(reply{verdict: goOn, offset: 7}.append(nil), int64(10))
	f.Add([]byte("LLR1"), int64(1))
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		r, err := readReply(b, size)
		if err != nil {
			return
		}
		if r.offset < 0 || r.offset > size {
			t.Errorf("offset %d of %d", r.offset, size)
		}
		if got := r.append(nil); !bytes.Equal(got, b) {
			t.Errorf("%x reads as %+v, which is written %x", b, r, got)
		}
	})
}

func TestPattern(t *testing.T) {
	p := newPattern()
	a, b := salt(southbound.HostFlowKey{Coflow: 1}), salt(southbound.HostFlowKey{Coflow: 1, Row: 1})
	if a == b {
		t.Fatal("neighbours carry the same bytes")
	}
	long := append(append([]byte(nil), p.at(a, 0, maxChunk)...), p.at(a, maxChunk, maxChunk)...)
	for _, o := range []int64{0, 1, period - 1, period, period + 1, maxChunk - 1, 65536} {
		if !p.match(a, o, long[o:o+1000]) {
			t.Errorf("byte %d: does not match", o)
		}
		for _, shift := range []int64{-1448, -1, 1, 1448, 4096, 65536} {
			if o+shift >= 0 && p.match(a, o+shift, long[o:o+1000]) {
				t.Errorf("byte %d: matches when shifted by %d", o, shift)
			}
		}
		if p.match(b, o, long[o:o+1000]) {
			t.Errorf("byte %d: matches another host flow", o)
		}
	}
}
