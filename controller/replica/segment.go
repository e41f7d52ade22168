package replica

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// segment is one file of the log.
type segment struct {
	f     *os.File
	first uint64
	seed  uint32 // checksum of the record before its first
}

// place is where a record stands.
type place struct {
	seg       *segment
	at        int64
	size      uint32 // of the entry
	seed, sum uint32
}

func (p place) end() int64 { return p.at + recordHead + int64(p.size) }

const (
	segmentMagic  = "LLLOG\x00\x00\x01"
	segmentHead   = len(segmentMagic) + 8 + 4 + 4
	segmentSuffix = ".log"
	recentEntries = 256      // kept in memory for followers
	recentBytes   = 64 << 10 // the largest of them
)

// segmentBytes is the size from which on another segment is begun. It is a variable for tests.
var segmentBytes int64 = 8 << 20

func segmentName(first uint64) string { return fmt.Sprintf("%020d%s", first, segmentSuffix) }

func (s *segment) head() []byte {
	b := make([]byte, 0, segmentHead)
	b = append(b, segmentMagic...)
	b = binary.BigEndian.AppendUint64(b, s.first)
	b = binary.BigEndian.AppendUint32(b, s.seed)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func (s *segment) decodeHead(b []byte) error {
	n := segmentHead - 4
	if len(b) != segmentHead || string(b[:len(segmentMagic)]) != segmentMagic {
		return errors.New("is no log of this version")
	}
	if binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return errSum
	}
	s.first, s.seed = binary.BigEndian.Uint64(b[len(segmentMagic):]), binary.BigEndian.Uint32(b[len(segmentMagic)+8:])
	return nil
}

// load reads one segment. What is not whole in the newest one is dropped, if nothing of it was ever synced.
func (w *wal) load(path string, newest bool) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	s := &segment{f: f}
	at, err := w.scan(s)
	next := w.last() + 1
	empty := len(w.places) == 0 || w.places[len(w.places)-1].seg != s
	if err == nil && empty {
		err = errShort // it was begun for an entry
	}
	if err == nil {
		w.segs = append(w.segs, s)
		return nil
	}
	if !newest || next <= w.ballot.known().Last {
		return errors.Join(&Damage{File: path, Offset: at, Index: next, Cause: err}, f.Close())
	}
	if empty {
		return errors.Join(f.Close(), w.disk.do("remove", path, func() error { return os.Remove(path) }))
	}
	w.segs = append(w.segs, s)
	return w.disk.truncate(f, at)
}

// scan reads the records of a segment and returns where it stopped: at the end, or at what is not whole.
func (w *wal) scan(s *segment) (at int64, err error) {
	info, err := s.f.Stat()
	if err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(s.f, 1<<20)
	head := make([]byte, segmentHead)
	if _, err := io.ReadFull(in, head); err != nil {
		return 0, errShort
	}
	if err := s.decodeHead(head); err != nil {
		return 0, err
	}
	if filepath.Base(s.f.Name()) != segmentName(s.first) {
		return 0, fmt.Errorf("it begins with entry %d", s.first)
	}
	sum := s.seed
	switch n := len(w.places); {
	case n == 0:
		w.first = s.first
	case s.first != w.last()+1:
		return 0, fmt.Errorf("entries %d to %d are missing before it", w.last()+1, s.first-1)
	case s.seed != w.places[n-1].sum:
		return 0, errors.New("it does not follow the segment before it")
	}
	var body []byte
	for at = int64(segmentHead); at < info.Size(); {
		p := place{seg: s, at: at, seed: sum}
		if body, err = readRecord(in, body, info.Size()-at, &p); err != nil {
			return at, err
		}
		var l raft.Log
		if err := decodeEntry(body, &l); err != nil {
			return at, err
		}
		if want := w.first + uint64(len(w.places)); l.Index != want {
			return at, fmt.Errorf("it holds entry %d, not %d", l.Index, want)
		}
		w.places = append(w.places, p)
		at, sum = p.end(), p.sum
	}
	return at, nil
}

var errShort = errors.New("it is cut short")

// readRecord reads the record at p, which ends within room bytes, into b, which can be made anew.
func readRecord(in io.Reader, b []byte, room int64, p *place) ([]byte, error) {
	var head [recordHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return b, errShort
	}
	p.size, p.sum = binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	if int64(p.size) > room-recordHead {
		return b, fmt.Errorf("%w: a record of %d bytes has %d", errShort, p.size, room-recordHead)
	}
	if cap(b) < int(p.size) {
		b = make([]byte, p.size)
	}
	b = b[:p.size]
	if _, err := io.ReadFull(in, b); err != nil {
		return b, errShort
	}
	if recordSum(head[:4], b, p.seed) != p.sum {
		return b, errSum
	}
	return b, nil
}
