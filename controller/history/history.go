// Package history keeps on disk the jobs that have left the replicated state of one replica. It is no part of the
// state: no digest covers it, and no entry is applied by it. The log and snapshots of the replica can make it anew: a
// job leaves at the same entry each time.
package history

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"lightloom/controller"
	"lightloom/controller/state"
)

// Store is the history of one replica. All methods can be called by several goroutines.
type Store struct {
	db   *bbolt.DB
	keep time.Duration
	log  *slog.Logger

	mu      sync.Mutex
	queue   []state.Left // not on disk yet, in their order
	wake    chan struct{}
	writing sync.Mutex // held for a write
	stop    chan struct{}
	stopped sync.WaitGroup
}

var (
	jobs  = []byte("jobs")  // by id: state.Left as JSON
	ended = []byte("ended") // by the end, then the id: nothing
)

// Open opens the history in a file, which it makes if there is none. Jobs are kept for a time after their end, 0 means
// for good.
func Open(path string, keep time.Duration, log *slog.Logger) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType,
		NoFreelistSync: true})
	if err == nil {
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists(jobs)
			_, other := tx.CreateBucketIfNotExists(ended)
			return errors.Join(err, other)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("open history %q: %w", path, err)
	}
	s := &Store{db: db, keep: keep, log: log, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	s.stopped.Go(s.run)
	return s, nil
}

// Close writes what is left to write, and closes the file.
func (s *Store) Close() error {
	close(s.stop)
	s.stopped.Wait()
	return errors.Join(s.Flush(), s.db.Close())
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
	err := s.db.Update(func(tx *bbolt.Tx) error {
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
	})
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
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

// Job returns a job that has left; false if it is not known any more, or has not left. It does not wait for the disk to
// take others.
func (s *Store) Job(id controller.JobID) (l state.Left, known bool, err error) {
	if l, known = s.queued(id); known {
		return l, true, nil
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(jobs).Get(key(id))
		if known = b != nil; known {
			l, err = decode(b)
		}
		return err
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

// Jobs calls f with all jobs that had left when it was called and are known, from an id on, by id, until f returns
// false.
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
	return s.db.View(func(tx *bbolt.Tx) error {
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
	})
}
