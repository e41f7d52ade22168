package history

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"lightloom/controller/state"
)

// maxRecord bounds one job in a stream: what its entry could have in the log, and what it has become.
const maxRecord = 4 * state.MaxBatch

// Save writes all that has left so far, for another replica: each record behind its length.
func (s *Store) Save(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<20)
	err := s.each(0, false, func(b []byte) (bool, error) {
		return true, writeRecord(out, b)
	})
	return errors.Join(err, out.Flush())
}

// Write writes jobs as Save does.
func Write(w io.Writer, left []state.Left) error {
	for i := range left {
		b, err := json.Marshal(&left[i])
		if err != nil {
			return fmt.Errorf("write history: %w", err)
		}
		if err := writeRecord(w, b); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	return nil
}

func writeRecord(w io.Writer, b []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// Load adds what Save or Write wrote, up to the end of the stream.
func (s *Store) Load(r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<20)
	var left []state.Left
	for bytes := 0; ; {
		l, n, err := read(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("load history: %w", err)
		}
		left = append(left, l)
		if bytes += n; len(left) == most || bytes > state.MaxBatch {
			if err := s.write(left); err != nil {
				return err
			}
			left, bytes = nil, 0
		}
	}
	if len(left) == 0 {
		return nil
	}
	return s.write(left)
}

// Fill makes a history in a file, of what Save or Write wrote. A replica that opens it then takes out
// what is too old.
func Fill(path string, r io.Reader) error {
	s, err := Open(path, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(s.Load(r), s.Close())
}

// read returns the next record and its length; io.EOF after the last. It allocates nothing that has not
// arrived.
func read(in io.Reader) (l state.Left, n int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return l, 0, err
	}
	n = int(binary.BigEndian.Uint32(head[:]))
	if n > maxRecord {
		return l, 0, fmt.Errorf("a record of %d bytes, at most %d are taken", n, maxRecord)
	}
	b, err := io.ReadAll(io.LimitReader(in, int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	if err == nil && l.Job == nil {
		err = errNoJob
	}
	return l, n, err
}
