package state

import (
	"errors"
	"fmt"
	"slices"
)

// EncodeWithin writes entries for the log, in their order, as batches of at most that many bytes each.
// Entries that are too large by themselves or cannot be written are left out; the error names them, and
// the batches hold the rest.
func EncodeWithin(entries []Entry, most int) (batches [][]byte, err error) {
	var out, one text
	var errs []error
	flush := func() {
		if len(out) > 0 {
			batches = append(batches, append(out, ']'))
			out = nil
		}
	}
	for i := range entries {
		one = one[:0]
		if err := one.entry(&entries[i]); err != nil {
			errs = append(errs, fmt.Errorf("encode %v: %w", entries[i].Kind, err))
			continue
		}
		if len(one)+2 > most {
			errs = append(errs, fmt.Errorf("encode %v: %d bytes, at most %d are taken", entries[i].Kind,
				len(one), most))
			continue
		}
		if len(out)+len(one)+2 > most {
			flush()
		}
		sep := byte(',')
		if len(out) == 0 {
			sep = '['
		}
		out.grow(len(one) + 2)
		out = append(out, sep)
		out.add(one)
	}
	flush()
	return batches, errors.Join(errs...)
}

// text is a buffer that takes long texts in pieces. The copy of one at once would keep the whole
// process from being stopped by its garbage collector, and its heartbeats wait for that, for long on a
// busy machine.
type text []byte

const piece = 256 << 10

// Write implements io.Writer.
func (t *text) Write(b []byte) (int, error) {
	t.grow(len(b))
	t.add(b)
	return len(b), nil
}

// grow makes room.
func (t *text) grow(n int) {
	if need := len(*t) + n; need > cap(*t) {
		was := *t
		*t = make([]byte, 0, max(need, 2*cap(was)))
		t.add(was)
	}
}

// add adds what there is room for.
func (t *text) add(b []byte) {
	for p := range slices.Chunk(b, piece) {
		*t = append(*t, p...)
	}
}
