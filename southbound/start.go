package southbound

import (
	"errors"
	"fmt"

	"lightloom/pathmap"
)

// MaxSize bounds the payload of one row: what is left of it stays exact to a byte in a float64.
const MaxSize = pathmap.Bytes(1 << 50)

// Addresses are the hosts and tags of a fabric, which calls to hosts can name.
type Addresses struct {
	Hosts    int
	Tags     Tag  // one more than the highest
	ToItself bool // a host can send to itself
}

// CheckHost returns an error if a host is invalid.
func (a Addresses) CheckHost(h HostID) error {
	if h < 0 || int(h) >= a.Hosts {
		return fmt.Errorf("host %d: hosts are 0 to %d", h, a.Hosts-1)
	}
	return nil
}

// CheckTag returns an error if a tag to steer to is invalid.
func (a Addresses) CheckTag(t Tag) error {
	if t >= a.Tags && t != TagHold {
		return fmt.Errorf("tag %d: tags are 0 to %d, or %d to hold", t, a.Tags-1, TagHold)
	}
	return nil
}

// CheckColumns reports whether all columns have a value for each row, or nil.
func (s *Start) CheckColumns() error {
	n := len(s.Size)
	if len(s.Src) != n || len(s.Dst) != n || len(s.Tag) != n || s.Cap != nil && len(s.Cap) != n {
		return fmt.Errorf("columns of %d sources, %d destinations, %d sizes, %d tags, %d caps",
			len(s.Src), len(s.Dst), n,
			len(s.Tag), len(s.Cap))
	}
	return nil
}

// Check returns an error if a start is invalid.
func (s *Start) Check(a Addresses) error {
	if err := s.CheckColumns(); err != nil {
		return err
	}
	for i := range s.Size {
		if err := s.checkRow(i, a); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (s *Start) checkRow(i int, a Addresses) error {
	src, dst := s.Src[i], s.Dst[i]
	if err := errors.Join(a.CheckHost(src), a.CheckHost(dst), a.CheckTag(s.Tag[i])); err != nil {
		return err
	}
	switch {
	case src == dst && !a.ToItself:
		return fmt.Errorf("from host %d to itself", src)
	case s.Size[i] <= 0 || s.Size[i] > MaxSize:
		return fmt.Errorf("%d bytes; take 1 to %d", s.Size[i], MaxSize)
	case s.Cap != nil && s.Cap[i] < 0:
		return fmt.Errorf("a cap of %d; take one above zero, or 0 for none", s.Cap[i])
	case i > 0 && (dst < s.Dst[i-1] || dst == s.Dst[i-1] && src <= s.Src[i-1]):
		return fmt.Errorf("%d→%d after %d→%d: rows are sorted by destination, then source", src, dst, s.Src[i-1],
			s.Dst[i-1])
	}
	return nil
}
