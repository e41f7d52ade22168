// Package history keeps on disk the jobs that have left the replicated state of one replica. It is no
// part of the state: no digest covers it, and no entry is applied by it. The log and snapshots of the
// replica can make it anew: a job leaves at the same entry each time.
package history

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"lightloom/controller"
	"lightloom/controller/state"
)

// Store is the history of one replica. All methods can be called by several goroutines.
type Store struct {
	path string
	db   *bbolt.DB
	keep time.Duration
	log  *slog.Logger

	mu      sync.Mutex
	queue   []state.Left // not on disk yet, in their order
	wake    chan struct{}
	writing sync.Mutex // held for a write
	stop    chan struct{}
	stopped sync.WaitGroup
	damaged atomic.Bool
}

var (
	jobs  = []byte("jobs")  // by id: state.Left as JSON
	ended = []byte("ended") // by the end, then the id: nothing
)

// DamagedSuffix is what a damaged history's file name ends with once another has taken its place.
const DamagedSuffix = ".damaged"

// ErrDamaged marks a file that does not hold what was written. The replica's next start makes another.
var ErrDamaged = errors.New("the history is damaged: the next start makes it anew, from the log and the snapshot")

// Open opens the history in a file, which it makes if there is none. Jobs are kept for a time after
// their end, 0 means for good. A file that is damaged is put aside for a new one: the replica's
// snapshot and log fill that.
func Open(path string, keep time.Duration, log *slog.Logger) (*Store, error) {
	db, err := openOnce(path)
	if errors.Is(err, ErrDamaged) {
		log.Error("the history is damaged and is made anew", "kept", path+DamagedSuffix, "error", err)
		if err = os.Rename(path, path+DamagedSuffix); err == nil || errors.Is(err, fs.ErrNotExist) {
			db, err = openOnce(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open history %q: %w", path, err)
	}
	s := &Store{path: path, db: db, keep: keep, log: log, wake: make(chan struct{}, 1),
		stop: make(chan struct{})}
	s.stopped.Go(s.run)
	return s, nil
}

// OpeningSuffix is what a file's name ends with that is there while the history is opened: bbolt scans
// files of earlier versions, and where they are damaged it panics in a goroutine of its own.
const OpeningSuffix = ".opening"

// openOnce is open, but for a file that has ended a process that opened it.
func openOnce(path string) (*bbolt.DB, error) {
	opening := path + OpeningSuffix
	_, err := os.Stat(opening)
	if err == nil {
		return nil, errors.Join(fmt.Errorf("%w: a process ended while it opened it", ErrDamaged),
			os.Remove(opening))
	}
	if err := os.WriteFile(opening, nil, 0o600); err != nil {
		return nil, err
	}
	db, err := open(path)
	return db, errors.Join(err, os.Remove(opening))
}

// open opens a file. It reads no more than the beginning and the roots of its trees.
func open(path string) (db *bbolt.DB, err error) {
	err = guard(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second,
			FreelistType: bbolt.FreelistMapType})
		return err
	})
	var system syscall.Errno
	if err != nil && !errors.As(err, &system) && !errors.Is(err, bolterrors.ErrTimeout) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err != nil {
		return nil, err
	}
	err = guard(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			if st, err := os.Stat(path); err != nil || st.Size() < tx.Size() {
				return errors.Join(ErrDamaged, err) // it is mapped: what is missing would be a fault
			}
			_, err := tx.CreateBucketIfNotExists(jobs)
			_, other := tx.CreateBucketIfNotExists(ended)
			return errors.Join(err, other)
		})
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// guard calls what reads or writes the file. Where a page is not what was written bbolt panics, and
// what is missing of a mapped file is a fault.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, what)
		}
	}()
	return f()
}

// guarded is guard of a store that puts its file aside when it is closed, should that be damaged.
func (s *Store) guarded(f func() error) error {
	err := guard(f)
	if errors.Is(err, ErrDamaged) || errors.Is(err, errNoJob) {
		s.damaged.Store(true)
	}
	return err
}

// Close writes what is left to write, and closes the file.
func (s *Store) Close() error {
	close(s.stop)
	s.stopped.Wait()
	err := errors.Join(s.Flush(), s.db.Close())
	if s.damaged.Load() {
		err = errors.Join(err, os.Rename(s.path, s.path+DamagedSuffix))
	}
	return err
}

// Put takes jobs that have left the state. It does not wait for the disk.
func (s *Store) Put(left []state.Left) {
	s.mu.Lock()
	s.queue = append(s.queue, left...)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// writeEvery is the time between two writes: each waits for the disk, as the log does.
const writeEvery = time.Second

func (s *Store) run() {
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		}
		if err := s.Flush(); err != nil {
			s.log.Error("write history", "error", err) // it is tried again with what comes next, or by a snapshot
		}
		select {
		case <-s.stop:
			return
		case <-time.After(writeEvery):
		}
	}
}

// most is how many jobs one transaction writes or takes out.
const most = 4096

// Flush returns once all jobs that have been put are on disk.
func (s *Store) Flush() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for {
		s.mu.Lock()
		left := s.queue[:min(len(s.queue), most)]
		s.mu.Unlock()
		if len(left) == 0 {
			return nil
		}
		if err := s.write(left); err != nil {
			return err
		}
		s.mu.Lock()
		if s.queue = s.queue[len(left):]; len(s.queue) == 0 {
			s.queue = nil
		}
		s.mu.Unlock()
	}
}

// write adds jobs, and takes out those that have been kept for long enough.
func (s *Store) write(left []state.Left) error {
	err := s.guarded(func() error { return s.db.Update(func(tx *bbolt.Tx) error { return s.put(tx, left) }) })
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

func (s *Store) put(tx *bbolt.Tx, left []state.Left) error {
	for i := range left {
		b, err := json.Marshal(&left[i])
		if err != nil {
			return err
		}
		j := left[i].Job
		if err := tx.Bucket(jobs).Put(key(j.ID), b); err != nil {
			return err
		}
		if err := tx.Bucket(ended).Put(endKey(j), nil); err != nil {
			return err
		}
	}
	return s.forget(tx, left[len(left)-1].Job.Leaves)
}

func (s *Store) forget(tx *bbolt.Tx, now time.Duration) error {
	if s.keep == 0 {
		return nil
	}
	var old [][]byte
	c := tx.Bucket(ended).Cursor()
	for k, _ := c.First(); k != nil && len(old) < 2*most; k, _ = c.Next() {
		if time.Duration(binary.BigEndian.Uint64(k))+s.keep > now {
			break
		}
		old = append(old, bytes.Clone(k))
	}
	for _, k := range old {
		if err := errors.Join(tx.Bucket(ended).Delete(k), tx.Bucket(jobs).Delete(k[8:])); err != nil {
			return err
		}
	}
	return nil
}

func key(id controller.JobID) []byte { return binary.BigEndian.AppendUint32(nil, uint32(id)) }

func endKey(j *state.Job) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(max(j.Ended, 0))), key(j.ID)...)
}

// Job returns a job that has left; false if it is not known any more, or has not left. It does not wait
// for the disk to take others.
func (s *Store) Job(id controller.JobID) (l state.Left, known bool, err error) {
	if l, known = s.queued(id); known {
		return l, true, nil
	}
	err = s.guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) (err error) {
			b := tx.Bucket(jobs).Get(key(id))
			if known = b != nil; known {
				l, err = decode(b)
			}
			return err
		})
	})
	return l, known && err == nil, err
}

// queued finds a job that is not on disk yet. What is not in the queue any more is on disk.
func (s *Store) queued(id controller.JobID) (l state.Left, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.queue) - 1; i >= 0; i-- {
		if s.queue[i].Job.ID == id {
			return s.queue[i], true
		}
	}
	return l, false
}

// Jobs calls f with all jobs that had left when it was called and are known, from an id on, by id,
// until f returns false.
func (s *Store) Jobs(from controller.JobID, f func(state.Left) bool) error {
	return s.walk(from, false, f)
}

// JobsDown is Jobs by falling ids.
func (s *Store) JobsDown(from controller.JobID, f func(state.Left) bool) error {
	return s.walk(from, true, f)
}

func (s *Store) walk(from controller.JobID, down bool, f func(state.Left) bool) error {
	return s.each(from, down, func(b []byte) (bool, error) {
		l, err := decode(b)
		return err == nil && f(l), err
	})
}

func decode(b []byte) (l state.Left, err error) {
	if err := json.Unmarshal(b, &l); err != nil || l.Job == nil {
		return l, fmt.Errorf("read history: %w", errors.Join(errNoJob, err))
	}
	return l, nil
}

var errNoJob = errors.New("a record is no job")

// each calls f with the records from an id on, up or down.
func (s *Store) each(from controller.JobID, down bool, f func(record []byte) (more bool, err error)) error {
	if err := s.Flush(); err != nil {
		return err
	}
	return s.guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			return walk(tx, from,
				down, f)
		})
	})
}

func walk(tx *bbolt.Tx, from controller.JobID, down bool,
	f func(record []byte) (more bool, err error)) error {
	c := tx.Bucket(jobs).Cursor()
	start := key(max(from, 0))
	k, v := c.Seek(start)
	next := c.Next
	if down {
		if next = c.Prev; k == nil {
			k, v = c.Last()
		} else if !bytes.Equal(k, start) {
			k, v = c.Prev()
		}
	}
	for ; k != nil; k, v = next() {
		if more, err := f(v); err != nil || !more {
			return err
		}
	}
	return nil
}
