package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// EncodeWithin writes entries for the log, in their order, as batches of at most that many bytes each.
// Entries that are too large by themselves or cannot be written are left out; the error names them, and
// the batches hold the rest.
func EncodeWithin(entries []Entry, most int) (batches [][]byte, err error) {
	var out, one bytes.Buffer
	enc := json.NewEncoder(&one)
	var errs []error
	flush := func() {
		if out.Len() > 0 {
			out.WriteByte(']')
			batches = append(batches, bytes.Clone(out.Bytes()))
			out.Reset()
		}
	}
	for i := range entries {
		one.Reset()
		if err := enc.Encode(&entries[i]); err != nil {
			errs = append(errs, fmt.Errorf("encode %v: %w", entries[i].Kind, err))
			continue
		}
		one.Truncate(one.Len() - 1) // a line's end
		if one.Len()+2 > most {
			errs = append(errs, fmt.Errorf("encode %v: %d bytes, at most %d are taken", entries[i].Kind, one.Len(), most))
			continue
		}
		if out.Len()+one.Len()+2 > most {
			flush()
		}
		sep := byte(',')
		if out.Len() == 0 {
			sep = '['
		}
		out.WriteByte(sep)
		out.Write(one.Bytes())
	}
	flush()
	return batches, errors.Join(errs...)
}
