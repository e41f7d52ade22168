package wire

import (
	"errors"
	"fmt"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// Starts splits starts into requests of at most ChunkRows rows each, without their election. The slices
// are copied.
func Starts(starts []southbound.Start) ([]*agentpb.StartRequest, error) {
	var out []*agentpb.StartRequest
	var req *agentpb.StartRequest
	room := 0
	for i := range starts {
		s := &starts[i]
		if err := CheckColumns(s); err != nil {
			return nil, err
		}
		for first := 0; first < len(s.Src); {
			if room == 0 {
				req, room = &agentpb.StartRequest{}, ChunkRows
				out = append(out, req)
			}
			n := min(room, len(s.Src)-first)
			req.Chunks = append(req.Chunks, chunk(s, first, n))
			first, room = first+n, room-n
		}
	}
	return out, nil
}

func chunk(s *southbound.Start, first, n int) *agentpb.Chunk {
	c := &agentpb.Chunk{Coflow: int32(s.Coflow), Rows: int32(len(s.Src)), First: int32(first),
		Src: make([]int32, n), Dst: make([]int32, n), Size: make([]int64, n), Tag: make([]byte, n)}
	for i := range n {
		c.Src[i], c.Dst[i] = int32(s.Src[first+i]), int32(s.Dst[first+i])
		c.Size[i], c.Tag[i] = int64(s.Size[first+i]), byte(s.Tag[first+i])
	}
	if s.Cap != nil {
		c.Cap = make([]int64, n)
		for i := range n {
			c.Cap[i] = int64(s.Cap[first+i])
		}
	}
	return c
}

// CheckColumns reports whether a start can be sent at all: some rows, not too many, and columns of
// equal length.
func CheckColumns(s *southbound.Start) error {
	err := s.CheckColumns()
	switch n := len(s.Src); {
	case err != nil:
	case n == 0:
		err = errors.New("has no rows")
	case n > MaxRows:
		err = fmt.Errorf("has %d rows, at most %d are taken", n, MaxRows)
	default:
		return nil
	}
	return fmt.Errorf("start coflow %d: %w: %w", s.Coflow, err, southbound.ErrRefused)
}

// CheckStart returns an error if a start is invalid on a fabric with that many hosts.
func CheckStart(s *southbound.Start, hosts int) error {
	if err := CheckColumns(s); err != nil {
		return err
	}
	if err := s.Check(southbound.Addresses{Hosts: hosts, Tags: southbound.Tags}); err != nil {
		return fmt.Errorf("start coflow %d: %w: %w", s.Coflow, err, southbound.ErrRefused)
	}
	return nil
}

// ValidTag reports whether a host flow can be steered to t.
func ValidTag(t southbound.Tag) bool { return t < southbound.Tags || t == southbound.TagHold }

// Assembler puts the chunks of coflows together again. A sender finishes one coflow before it begins
// the next, so one is open at most, and what is held is bounded by MaxRows. The zero value is ready.
type Assembler struct {
	open southbound.Start
	rows int // of the whole coflow; 0 while none is open
}

// Add takes the next chunk. It returns the coflow once its last row has come, nil before. A chunk that
// has been taken already is nothing; one that begins at row 0 begins its coflow anew, and drops another
// that was open.
func (a *Assembler) Add(c *agentpb.Chunk) (*southbound.Start, error) {
	if err := a.check(c); err != nil {
		return nil, fmt.Errorf("start coflow %d: %w: %w", c.GetCoflow(), err, southbound.ErrRefused)
	}
	first, n := int(c.GetFirst()), len(c.GetSrc())
	if first == 0 {
		a.open, a.rows = southbound.Start{Coflow: southbound.CoflowID(c.GetCoflow())}, int(c.GetRows())
	}
	if first < len(a.open.Src) {
		return nil, nil // a retry of what has been taken
	}
	for i := range n {
		a.open.Src = append(a.open.Src, southbound.HostID(c.Src[i]))
		a.open.Dst = append(a.open.Dst, southbound.HostID(c.Dst[i]))
		a.open.Size = append(a.open.Size, pathmap.Bytes(c.Size[i]))
		a.open.Tag = append(a.open.Tag, southbound.Tag(c.Tag[i]))
		if len(c.Cap) > 0 {
			a.open.Cap = append(a.open.Cap, pathmap.BitsPerSecond(c.Cap[i]))
		}
	}
	if len(a.open.Src) < a.rows {
		return nil, nil
	}
	done := a.open
	a.Reset()
	return &done, nil
}

// check compares a chunk with itself and with the coflow that is open.
func (a *Assembler) check(c *agentpb.Chunk) error {
	first, rows, n := int64(c.GetFirst()), int64(c.GetRows()), int64(len(c.GetSrc()))
	switch {
	case len(c.GetCap()) > 0 && int64(len(c.GetCap())) != n, first > 0 && first <= int64(len(a.open.Src)) &&
		(len(c.GetCap()) > 0) != (a.open.Cap != nil):
		return fmt.Errorf("a chunk's caps are not as many as its rows, or the coflow's other rows have none")
	case int64(len(c.GetDst())) != n || int64(len(c.GetSize())) != n || int64(len(c.GetTag())) != n:
		return fmt.Errorf("a chunk's columns differ in length")
	case n == 0 || n > ChunkRows || rows <= 0 || rows > MaxRows || first < 0 || first+n > rows:
		return fmt.Errorf("a chunk of %d rows at %d of %d", n, first, rows)
	case first == 0:
		return nil
	case a.rows == 0 || int32(a.open.Coflow) != c.GetCoflow() || int64(a.rows) != rows:
		return fmt.Errorf("a chunk at row %d of a coflow that is not open", first)
	case first > int64(len(a.open.Src)) || (first < int64(len(a.open.Src)) && first+n > int64(len(a.open.Src))):
		return fmt.Errorf("a chunk at row %d, and %d is the next", first, len(a.open.Src))
	}
	return nil
}

// Reset drops what is open.
func (a *Assembler) Reset() { *a = Assembler{} }
