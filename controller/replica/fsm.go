package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// fsm is the Machine as raft drives it, one call at a time, with the index of the last entry it holds.
type fsm struct {
	limit int64 // of a state in a snapshot, in bytes
	// nil: there is none
	archive Archive
	log     *slog.Logger
	die     func(error) // ends the node: its machine holds no state that anyone has agreed on

	mu      sync.Mutex
	machine Machine
	failed  error  // why the last snapshot was not restored
	unable  error  // why the machine takes no more entries
	index   uint64 // of the last entry applied or refused; no-ops and barriers do not count
	term    uint64 // of that entry
	advance chan struct{}
	compare comparison
	parts   pending // raft's calls alone use it

	at atomic.Uint64 // index, for readers that do not wait
}

func newFSM(m Machine, a Archive, limit int64, log *slog.Logger) *fsm {
	return &fsm{machine: m, archive: a, limit: limit, log: log, die: func(error) {},
		advance: make(chan struct{})}
}

// applied is what Apply answers to who appended the entry.
type applied struct {
	fenced bool  // the entry was meant for another term and has no effect
	part   bool  // it is a part of one, and not the last
	err    error // the machine's
}

// Apply implements raft.FSM. Raft calls it for one entry after the other.
func (f *fsm) Apply(l *raft.Log) any {
	f.parts.since(l.Term)
	// Both terms are in the log, so every replica fences the same entries.
	if want := fenceTerm(l.Extensions); want != 0 && want != l.Term {
		return f.between(l, func() applied { return applied{fenced: true} })
	}
	if c, is := decodeClaim(l.Extensions); is {
		return f.between(l, func() applied {
			f.compare.take(l.Index, c, f.machine.Freeze())
			return applied{}
		})
	}
	entry := l.Data
	if p, is := decodePart(l.Extensions); is {
		var dropped bool
		if entry, dropped = f.parts.add(l, p); entry == nil {
			return f.between(l, func() applied { return applied{fenced: dropped, part: !dropped} })
		}
	}
	apply := f.machine.Read(entry) // readers of the state do not wait for that
	return f.between(l, func() (a applied) {
		if a.err = apply(); a.err != nil {
			f.log.Error("entry refused", "index", l.Index, "err", a.err)
		}
		if errors.Is(a.err, ErrUnable) {
			f.unable = fmt.Errorf("apply entry %d: %w", l.Index, a.err)
			f.die(f.unable)
		}
		return a
	})
}

// between does what an entry asks for while nobody reads the state, unless the machine takes no more.
func (f *fsm) between(l *raft.Log, do func() applied) applied {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unable != nil {
		return applied{err: f.unable}
	}
	a := do()
	if f.unable == nil {
		f.moved(l.Index, l.Term)
	}
	return a
}

func (f *fsm) moved(index, term uint64) {
	f.index, f.term = index, term
	f.at.Store(index)
	close(f.advance)
	f.advance = make(chan struct{})
}

// fence encodes the only term in which an entry can take effect; 0 is any.
func fence(term uint64) []byte {
	if term == 0 {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, term)
}

func fenceTerm(ext []byte) uint64 {
	if len(ext) != 8 && len(ext) != claimSize && len(ext) != partSize {
		return 0
	}
	return binary.BigEndian.Uint64(ext)
}

// Snapshot implements raft.FSM. The state is captured here, between two entries, and written later.
// There is none between the parts of an entry: the log behind it would not hold the first.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	if f.parts.of > 0 {
		return nil, raft.ErrNothingNewToSnapshot
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unable != nil {
		return nil, f.unable
	}
	return &captured{of: f.machine.Freeze(), archive: f.archive, index: f.index, term: f.term,
		limit: f.limit}, nil
}

// freeze returns the state after the last entry, for readers.
func (f *fsm) freeze() (index uint64, state Frozen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.index, f.machine.Freeze()
}

// Restore implements raft.FSM.
func (f *fsm) Restore(r io.ReadCloser) (err error) {
	defer r.Close()
	defer func() {
		f.mu.Lock()
		f.failed = err
		f.mu.Unlock()
	}()
	f.parts.drop()
	h, state, err := readSnapshot(r, f.limit)
	if err == nil {
		err = f.restoreArchive(r)
	}
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock() // before the one above
	err = f.machine.Restore(state)
	if err == nil {
		if got := f.machine.Freeze().Digest(); got != h.digest {
			err = fmt.Errorf("state has digest %x, snapshot says %x", got[:6], h.digest[:6])
		}
	}
	if err != nil {
		err = fmt.Errorf("restore snapshot of index %d: %w", h.index, err)
		f.die(err)
		return err
	}
	f.moved(h.index, h.term)
	return nil
}

// restoreArchive reads what comes behind the state. It comes first, so that no state is there without it.
func (f *fsm) restoreArchive(r io.Reader) error {
	if f.archive != nil {
		return f.archive.Load(r)
	}
	if n, err := io.Copy(io.Discard, r); err != nil || n > 0 {
		return fmt.Errorf("%d bytes come behind the state, and there is no archive for them: %w", n, err)
	}
	return nil
}

// view calls fn between two entries.
func (f *fsm) view(fn func(index uint64)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(f.index)
}

// wait returns once an entry of at least that index has been applied.
func (f *fsm) wait(ctx context.Context, died, closed <-chan struct{}, index uint64) error {
	for {
		f.mu.Lock()
		at, advance := f.index, f.advance
		f.mu.Unlock()
		if at >= index {
			return nil
		}
		select {
		case <-advance:
		case <-died:
			return fmt.Errorf("wait for index %d: stands at %d", index, at)
		case <-closed:
			return fmt.Errorf("wait for index %d: stands at %d: %w", index, at, ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("wait for index %d: stands at %d: %w", index, at, context.Cause(ctx))
		}
	}
}

// captured is a state on its way to disk or to a follower.
type captured struct {
	of          Frozen
	archive     Archive
	index, term uint64
	limit       int64
}

// Persist implements raft.FSMSnapshot. Entries are applied meanwhile.
func (s *captured) Persist(sink raft.SnapshotSink) error {
	err := s.write(sink)
	if err != nil {
		_ = sink.Cancel() // the first error is the one to return
		return fmt.Errorf("write snapshot of index %d: %w", s.index, err)
	}
	return sink.Close()
}

func (s *captured) write(to io.Writer) error {
	state, err := s.of.Snapshot()
	if err != nil {
		return err
	}
	if n := int64(headerSize + len(state)); n > s.limit {
		return fmt.Errorf("%d bytes, at most %d are taken: raise Limits.Snapshot", n, s.limit)
	}
	h := header{index: s.index, term: s.term, digest: s.of.Digest(), size: uint64(len(state))}
	_, err = to.Write(h.encode())
	for piece := range slices.Chunk(state, partBytes) {
		if err == nil {
			_, err = to.Write(piece)
		}
	}
	if err == nil && s.archive != nil {
		err = s.archive.Save(to)
	}
	return err
}

// Release implements raft.FSMSnapshot.
func (s *captured) Release() {}
