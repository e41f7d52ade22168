package replica

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/raft"
)

// wal is raft's log: segments, files of records, each named for its first entry. An entry counts once
// it is synced and the ballot says that the log reaches that far; an incomplete record behind that was
// cut short by a crash. It is a raft.LogStore for one writer beside one goroutine that drops old
// entries.
type wal struct {
	disk   *disk
	ballot *ballot
	dir    string

	write       sync.Mutex // held by who changes files
	cut         uint64     // entries from here on give way to those that are stored next; 0: none
	dirty       bool       // there can be bytes behind the end
	needsReread bool       // the ballot on disk can claim a longer log than there is
	unfinished  string     // a segment that was begun and does not count

	mu     sync.RWMutex
	segs   []*segment
	first  uint64 // index of places[0]
	places []place
	recent [recentEntries]*raft.Log // by index
}

var _ raft.MonotonicLogStore = (*wal)(nil)

// openWAL reads the whole log and checks every record.
func openWAL(d *disk, b *ballot) (*wal, error) {
	w := &wal{disk: d, ballot: b, dir: filepath.Join(d.dir, "log")}
	names, err := d.list(w.dir, segmentSuffix)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if err := w.load(filepath.Join(w.dir, name), i == len(names)-1); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	if last := b.known().Last; w.last() < last {
		at, file := int64(0), w.dir
		if len(w.segs) > 0 {
			file, at = w.segs[len(w.segs)-1].f.Name(), w.end()
		}
		return nil, errors.Join(&Damage{File: file, Offset: at, Index: w.last() + 1,
			Cause: fmt.Errorf("the log ends here, and was written up to entry %d", last)}, w.close())
	}
	if err := w.compare(b.known()); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// compare returns where the log is not the one that the ballot speaks of, but as long: one of the two
// is an old copy.
func (w *wal) compare(k kept) error {
	if k.Sum == 0 || k.Last < w.first || len(w.places) == 0 {
		return nil
	}
	if p := w.places[k.Last-w.first]; p.sum != k.Sum {
		return &Damage{File: p.seg.f.Name(), Offset: p.at, Index: k.Last,
			Cause: errors.New("this entry was written in the place of another, which " + VoteFile + " remembers")}
	}
	return nil
}

// last is the index of the last record, one below the first where there is none. The lock is held, or
// not needed yet.
func (w *wal) last() uint64 {
	if len(w.places) == 0 {
		return 0
	}
	return w.first + uint64(len(w.places)) - 1
}

// end is where the next record stands in the last segment.
func (w *wal) end() int64 {
	s := w.segs[len(w.segs)-1]
	if n := len(w.places); n > 0 && w.places[n-1].seg == s {
		return w.places[n-1].end()
	}
	return int64(segmentHead)
}

// IsMonotonic implements raft.MonotonicLogStore: after a snapshot of a peer raft removes what was there
// before.
func (w *wal) IsMonotonic() bool { return true }

// FirstIndex implements raft.LogStore.
func (w *wal) FirstIndex() (uint64, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if len(w.places) == 0 {
		return 0, nil
	}
	return w.first, nil
}

// LastIndex implements raft.LogStore.
func (w *wal) LastIndex() (uint64, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.cut != 0 {
		return w.cut - 1, nil
	}
	return w.last(), nil
}

// GetLog implements raft.LogStore. A record that is not what was written ends the node.
func (w *wal) GetLog(index uint64, l *raft.Log) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if len(w.places) == 0 || index < w.first || index > w.last() || w.cut != 0 && index >= w.cut {
		return raft.ErrLogNotFound
	}
	if c := w.recent[index%recentEntries]; c != nil && c.Index == index {
		*l = *c
		return nil
	}
	p := w.places[index-w.first]
	got := p
	body, err := readRecord(io.NewSectionReader(p.seg.f, p.at, p.end()-p.at), nil, p.end()-p.at, &got)
	if err == nil && got != p {
		err = errSum
	}
	if err == nil {
		err = decodeEntry(body, l)
	}
	if err != nil {
		w.disk.health.quit(&Damage{File: p.seg.f.Name(), Offset: p.at, Index: index, Cause: err})
	}
	return nil
}

// StoreLog implements raft.LogStore.
func (w *wal) StoreLog(l *raft.Log) error { return w.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore. After an error nothing has changed, as far as raft can see.
func (w *wal) StoreLogs(logs []*raft.Log) error {
	w.write.Lock()
	defer w.write.Unlock()
	if len(logs) == 0 {
		return nil
	}
	from := logs[0].Index
	w.setCut(0)
	if len(w.places) > 0 && from > w.last()+1 && w.ballot.known().Snapshot >= from-1 { // raft could not remove them
		if err := w.reset(); err != nil {
			return err
		}
	}
	if len(w.places) > 0 && (from > w.last()+1 || from < w.first) {
		return fmt.Errorf("store entry %d: the log holds %d to %d", from, w.first, w.last())
	}
	replaced := len(w.places) > 0 && from <= w.last()
	if replaced {
		if err := w.drop(from); err != nil {
			w.disk.health.quit(fmt.Errorf("replace entries from %d on: %w", from, err))
		}
	}
	err := w.append(logs)
	if err == nil {
		return nil
	}
	w.disk.health.fail(err)
	if replaced { // raft believes that what was replaced is there still
		w.disk.health.quit(fmt.Errorf("replace entries from %d on: %w", from, err))
	}
	return err
}

func (w *wal) setCut(at uint64) {
	w.mu.Lock()
	w.cut = at
	w.mu.Unlock()
}

// append writes entries behind the last.
func (w *wal) append(logs []*raft.Log) error {
	seg, at, sum := (*segment)(nil), int64(segmentHead), uint32(0)
	if n := len(w.segs); n > 0 {
		seg, at, sum = w.segs[n-1], w.end(), w.segs[n-1].seed
	}
	if n := len(w.places); n > 0 {
		sum = w.places[n-1].sum
	}
	var b []byte
	from, fresh := at, seg == nil || at >= segmentBytes
	if fresh {
		seg, from, at = &segment{first: logs[0].Index, seed: sum}, 0, int64(segmentHead)
		b = seg.head()
	}
	places := make([]place, 0, len(logs))
	for k, l := range logs {
		if want := logs[0].Index + uint64(k); l.Index != want {
			return fmt.Errorf("store entry %d: entry %d comes first", l.Index, want)
		}
		p := place{seg: seg, at: at, seed: sum}
		begin := len(b)
		b, sum = appendRecord(b, l, sum)
		p.size, p.sum = uint32(len(b)-begin-recordHead), sum
		places, at = append(places, p), p.end()
	}
	if err := w.put(seg, fresh, b, from, logs[len(logs)-1].Index, sum); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if fresh {
		w.segs = append(w.segs, seg)
	}
	if len(w.places) == 0 {
		w.first = logs[0].Index
	}
	w.places = append(w.places, places...)
	for _, l := range logs {
		if w.recent[l.Index%recentEntries] = nil; len(l.Data) <= recentBytes {
			w.recent[l.Index%recentEntries] = l
		}
	}
	return nil
}

// put writes and syncs what append has made, and then extends the ballot's end of the log.
func (w *wal) put(s *segment, fresh bool, b []byte, at int64, last uint64, sum uint32) (err error) {
	if err := w.settle(); err != nil {
		return err
	}
	if fresh {
		path := filepath.Join(w.dir, segmentName(s.first))
		if s.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return fmt.Errorf("write %q: %w: %w", path, ErrDisk, err)
		}
		defer func() {
			if err == nil {
				return
			}
			w.unfinished = path
			if err = errors.Join(err, s.f.Close()); !w.needsReread {
				_ = w.settle() // gives the room back; if not, the next write does
			}
		}()
	} else {
		if w.dirty {
			if err := w.disk.truncate(s.f, at); err != nil {
				return err
			}
		}
		w.dirty = true
	}
	if err = w.disk.write(s.f, b, at); err == nil {
		err = w.disk.sync(s.f)
	}
	if err == nil && fresh {
		err = w.disk.syncDir(w.dir)
	}
	if err == nil {
		err = w.ballot.mark(func(k *kept) { k.Last, k.Sum = last, sum })
		w.needsReread = err != nil
	}
	if err == nil {
		w.dirty = false
	} else if !fresh && !w.needsReread {
		_ = w.disk.truncate(s.f, at) // gives the room back; if not, the next write does
	}
	return err
}

// settle makes good what a write that failed has left on disk: first what the ballot says there, then
// what it says it of.
func (w *wal) settle() error {
	if w.needsReread {
		if err := w.ballot.mark(func(*kept) {}); err != nil {
			return err
		}
		w.needsReread = false
	}
	if w.unfinished != "" {
		if err := w.disk.do("remove", w.unfinished,
			func() error { return os.Remove(w.unfinished) }); err != nil {
			return err
		}
		w.unfinished = ""
	}
	return nil
}

// DeleteRange implements raft.LogStore. Old entries go with the segments that hold no others. New ones,
// which give way to those of another leader, go when these are stored: until then a full disk loses
// none, and raft, which believes that it still holds them after it could not store the others, is
// right.
func (w *wal) DeleteRange(from, to uint64) error {
	w.write.Lock()
	defer w.write.Unlock()
	switch {
	case len(w.places) == 0 || to < w.first || from > w.last():
		return nil
	case from > w.first && to < w.last():
		return fmt.Errorf("delete entries %d to %d: the log holds %d to %d", from, to, w.first, w.last())
	case from > w.first:
		w.setCut(from)
		return nil
	case to >= w.last():
		return w.reset()
	}
	var old []*segment
	w.mu.Lock()
	w.places = append([]place(nil), w.places[to+1-w.first:]...)
	w.first = to + 1
	for len(w.segs) > 1 && w.segs[1].first <= w.first {
		old, w.segs = append(old, w.segs[0]), w.segs[1:]
	}
	w.mu.Unlock()
	return w.remove(old)
}

// remove removes segments, in that order: after a crash what is left has no gap.
func (w *wal) remove(old []*segment) error {
	for _, s := range old {
		err := w.disk.do("remove", s.f.Name(), func() error { return os.Remove(s.f.Name()) })
		if err := errors.Join(err, s.f.Close()); err != nil {
			return err
		}
	}
	if len(old) == 0 {
		return nil
	}
	return w.disk.syncDir(w.dir)
}

// reset removes everything.
func (w *wal) reset() error {
	if err := w.settle(); err != nil {
		w.disk.health.fail(err)
		return err
	}
	if err := w.ballot.mark(func(k *kept) { k.Last, k.Sum = 0, 0 }); err != nil {
		w.disk.health.fail(err)
		return err
	}
	w.mu.Lock()
	old := w.segs
	w.segs, w.places, w.first, w.cut, w.dirty = nil, nil, 0, 0, false
	clear(w.recent[:])
	w.mu.Unlock()
	return w.remove(old)
}

// drop removes entries from an index on, which the log holds. First the ballot stops promising them.
func (w *wal) drop(from uint64) error {
	if from == w.first {
		return w.reset()
	}
	if err := w.settle(); err != nil {
		return err
	}
	sum := w.places[from-1-w.first].sum
	if err := w.ballot.mark(func(k *kept) {
		if k.Last >= from {
			k.Last, k.Sum = from-1, sum
		}
	}); err != nil {
		return err
	}
	var old []*segment
	w.mu.Lock()
	w.places = w.places[:from-w.first]
	keep := w.places[len(w.places)-1].seg
	for w.segs[len(w.segs)-1] != keep {
		n := len(w.segs) - 1
		old, w.segs = append(old, w.segs[n]), w.segs[:n]
	}
	clear(w.recent[:])
	w.mu.Unlock()
	if err := w.remove(old); err != nil {
		return err
	}
	return w.disk.truncate(keep.f, w.end())
}

func (w *wal) close() (err error) {
	for _, s := range w.segs {
		err = errors.Join(err, s.f.Close())
	}
	return err
}
