package replica

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"
)

// snapshots is a raft.SnapshotStore of files that are there whole or not at all: raft's metadata of a
// snapshot, the machine's bytes (see header), and checksums of both. The newest counts; one more is
// kept for inspection.
type snapshots struct {
	disk   *disk
	ballot *ballot
	dir    string
}

const (
	snapshotMagic  = "LLRAFT\x00\x01"
	snapshotHead   = len(snapshotMagic) + 4 + 4 // length and checksum of raft's metadata
	snapshotTail   = 8 + 4                      // length of the machine's bytes, checksum of all that is before it
	snapshotSuffix = ".snapshot"
	aboutBytes     = 1 << 20 // limit of raft's metadata
)

func snapshotName(index, term uint64) string {
	return fmt.Sprintf("%020d-%d%s", index, term, snapshotSuffix)
}

// Create implements raft.SnapshotStore.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, at uint64,
	_ raft.Transport) (raft.SnapshotSink, error) {
	id := snapshotName(index, term)
	about, err := json.Marshal(raft.SnapshotMeta{Version: version, ID: id, Index: index, Term: term,
		Configuration:      c,
		ConfigurationIndex: at})
	if err != nil || len(about) > aboutBytes {
		return nil, fmt.Errorf("write snapshot: describe it in %d bytes: %w", len(about), err)
	}
	path := filepath.Join(s.dir, id)
	f, err := os.OpenFile(path+tmpSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		s.disk.health.note()
		return nil, fmt.Errorf("write snapshot: %w: %w", ErrDisk, err)
	}
	k := &sink{of: s, id: id, index: index, path: path, f: f, sum: crc32.New(castagnoli)}
	k.out = bufio.NewWriterSize(io.MultiWriter(k.sum, writerFunc(k.append)), 1<<20)
	head := append([]byte(snapshotMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint32(head[len(snapshotMagic):], uint32(len(about)))
	binary.BigEndian.PutUint32(head[len(snapshotMagic)+4:], crc32.Checksum(about, castagnoli))
	if _, err := k.out.Write(append(head, about...)); err != nil {
		return nil, errors.Join(err, k.Cancel())
	}
	return k, nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// sink writes one snapshot.
type sink struct {
	of    *snapshots
	id    string
	index uint64
	path  string
	f     *os.File
	at    int64 // end of the file
	size  uint64
	sum   hash.Hash32
	out   *bufio.Writer
	ended bool
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.id }

func (k *sink) append(b []byte) (int, error) {
	if err := k.of.disk.write(k.f, b, k.at); err != nil {
		return 0, err
	}
	k.at += int64(len(b))
	return len(b), nil
}

// Write implements io.Writer.
func (k *sink) Write(b []byte) (int, error) {
	n, err := k.out.Write(b)
	k.size += uint64(n)
	return n, err
}

// Cancel implements raft.SnapshotSink.
func (k *sink) Cancel() error {
	if k.ended {
		return nil
	}
	k.ended = true
	k.of.disk.health.note()
	return errors.Join(k.f.Close(), os.Remove(k.path+tmpSuffix))
}

// Close implements raft.SnapshotSink: the snapshot counts from then on.
func (k *sink) Close() error {
	if k.ended {
		return nil
	}
	if err := k.finish(); err != nil {
		return errors.Join(fmt.Errorf("write snapshot: %w", err), k.Cancel())
	}
	k.ended = true
	d := k.of.disk
	err := d.do("rename", k.path+tmpSuffix, func() error { return os.Rename(k.path+tmpSuffix, k.path) })
	if err == nil {
		err = d.syncDir(k.of.dir)
	}
	if err == nil {
		err = k.of.ballot.mark(func(kept *kept) { kept.Snapshot = max(kept.Snapshot, k.index) })
	}
	if err = errors.Join(err, k.f.Close()); err != nil {
		d.health.note()
		return fmt.Errorf("write snapshot: %w", err)
	}
	return k.of.reap()
}

func (k *sink) finish() error {
	tail := binary.BigEndian.AppendUint64(nil, k.size)
	if _, err := k.out.Write(tail); err != nil {
		return err
	}
	if err := k.out.Flush(); err != nil {
		return err
	}
	if _, err := k.append(binary.BigEndian.AppendUint32(nil, k.sum.Sum32())); err != nil {
		return err
	}
	return k.of.disk.sync(k.f)
}

// reap removes all but the newest few.
func (s *snapshots) reap() error {
	names, err := s.disk.list(s.dir, snapshotSuffix)
	for len(names) > retainSnaps && err == nil {
		path := filepath.Join(s.dir, names[0])
		err = s.disk.do("remove", path, func() error { return os.Remove(path) })
		names = names[1:]
	}
	return err
}

// List implements raft.SnapshotStore: the newest, or none. Raft would take an older one where the
// newest is damaged, and panic for want of the entries between.
func (s *snapshots) List() ([]*raft.SnapshotMeta, error) {
	names, err := s.disk.list(s.dir, snapshotSuffix)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	m, f, err := s.open(names[len(names)-1])
	if err != nil {
		return nil, err
	}
	return []*raft.SnapshotMeta{m}, f.Close()
}

// Open implements raft.SnapshotStore. It reads the snapshot twice: first for its checksum.
func (s *snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	m, f, err := s.open(id)
	if err != nil {
		return nil, nil, err
	}
	if err := s.check(m, f); err != nil {
		s.disk.health.die(err)
		return nil, nil, errors.Join(err, f.Close())
	}
	return m, f, nil
}

// snapshotFile is the machine's bytes of a snapshot.
type snapshotFile struct {
	io.Reader
	*os.File
	begin int64
}

func (f *snapshotFile) Read(b []byte) (int, error) { return f.Reader.Read(b) }

// WriteTo hides os.File's, which would begin where the file stands.
func (f *snapshotFile) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, f.Reader) }

// open reads raft's metadata of a snapshot.
func (s *snapshots) open(id string) (*raft.SnapshotMeta, *snapshotFile, error) {
	path := filepath.Join(s.dir, id)
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open snapshot: %w", err)
	}
	fail := func(at int64, cause error) (*raft.SnapshotMeta, *snapshotFile, error) {
		err := &Damage{File: path, Offset: at, Cause: cause}
		s.disk.health.die(err)
		return nil, nil, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return fail(0, err)
	}
	m, begin, err := readAbout(f, info.Size())
	if err != nil {
		return fail(0, err)
	}
	if m.ID != id || snapshotName(m.Index, m.Term) != id {
		return fail(0, fmt.Errorf("it is snapshot %q", m.ID))
	}
	m.Size = info.Size() - begin - snapshotTail
	return m, &snapshotFile{io.NewSectionReader(f, begin, m.Size), f, begin}, nil
}

// readAbout reads the head of a file of that size: raft's metadata, and the offset of the machine's bytes.
func readAbout(in io.ReaderAt, size int64) (*raft.SnapshotMeta, int64, error) {
	head := make([]byte, snapshotHead)
	if _, err := in.ReadAt(head, 0); err != nil {
		return nil, 0, errShort
	}
	if string(head[:len(snapshotMagic)]) != snapshotMagic {
		return nil, 0, errors.New("is no snapshot of this version")
	}
	n := int64(binary.BigEndian.Uint32(head[len(snapshotMagic):]))
	if n > aboutBytes || int64(snapshotHead)+n+snapshotTail > size {
		return nil, 0, errShort
	}
	about := make([]byte, n)
	if _, err := in.ReadAt(about, int64(snapshotHead)); err != nil {
		return nil, 0, errShort
	}
	if crc32.Checksum(about, castagnoli) != binary.BigEndian.Uint32(head[len(snapshotMagic)+4:]) {
		return nil, 0, errSum
	}
	m := new(raft.SnapshotMeta)
	return m, int64(snapshotHead) + n, json.Unmarshal(about, m)
}

// check reads a whole snapshot and compares its checksum.
func (s *snapshots) check(m *raft.SnapshotMeta, f *snapshotFile) error {
	end := f.begin + m.Size + 8
	fail := func(at int64, cause error) error { return &Damage{File: f.Name(), Offset: at, Cause: cause} }
	sum := crc32.New(castagnoli)
	if n, err := io.Copy(sum, io.NewSectionReader(f.File, 0, end)); err != nil || n != end {
		return fail(n, errors.Join(errShort, err))
	}
	tail := make([]byte, snapshotTail)
	if _, err := f.ReadAt(tail, end-8); err != nil {
		return fail(end-8, errShort)
	}
	if binary.BigEndian.Uint64(tail) != uint64(m.Size) {
		return fail(end-8, fmt.Errorf("%d bytes of state are there, %d were written", m.Size,
			binary.BigEndian.Uint64(tail)))
	}
	if binary.BigEndian.Uint32(tail[8:]) != sum.Sum32() {
		return fail(f.begin, errSum)
	}
	return nil
}

// newest checks the newest snapshot whole and returns raft's metadata of it; nil if there is none.
func (s *snapshots) newest() (*raft.SnapshotMeta, error) {
	names, err := s.disk.list(s.dir, snapshotSuffix)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	promised := s.ballot.known().Snapshot
	if len(names) == 0 {
		if promised > 0 {
			return nil, &Damage{File: s.dir, Cause: fmt.Errorf("the snapshot of entry %d is gone", promised)}
		}
		return nil, nil
	}
	m, f, err := s.Open(names[len(names)-1])
	if err != nil {
		return nil, err
	}
	if m.Index < promised {
		err = &Damage{File: s.dir, Cause: fmt.Errorf("the snapshot of entry %d is gone", promised)}
	}
	return m, errors.Join(err, f.Close())
}
