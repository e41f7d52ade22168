package replica

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"lightloom/controller/replica/rollcall"
)

// kept is what a node must not forget beside its log: raft's term and vote, how far log and snapshots
// reach, so that what is missing at their end is noticed, and the starts of replicas.
type kept struct {
	Values   map[string][]byte `json:"values"`
	Last     uint64            `json:"last"`          // the log's last entry that was synced; 0: it may be empty
	Snapshot uint64            `json:"snapshot"`      // index of the newest snapshot
	Sum      uint32            `json:"sum,omitempty"` // of the record of Last, and so of all before it; 0: not known
	rollcall.Memory
}

// ballot keeps a kept in two slots of one file that never grows: a full disk takes it still. The slots
// are written one after the other, so one is whole at any time. Terms and votes are in both before they
// count: one slot that rots takes none along. It is a raft.StableStore.
type ballot struct {
	disk    *disk
	f       *os.File
	running atomic.Bool // raft has been started
	live    atomic.Pointer[rollcall.Memory]

	of         *rollcall.Memory // whose JSON remembered is
	remembered []byte

	mu   sync.Mutex
	kept kept
	seq  uint64
	good [2]bool // a slot holds what it should
	newv int     // the slot with the newest version
}

const (
	slotBytes   = 4096
	slotHead    = len(ballotMagic) + 8 + 4 + 4
	ballotMagic = "LLVOTE\x00\x01"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeSlot(k kept, seq uint64) ([]byte, error) {
	remembered, err := json.Marshal(k.Memory)
	if err != nil {
		return nil, err
	}
	return encodeSlotWith(k, remembered, seq)
}

// encodeSlotWith is encodeSlot with the memory as JSON already: it seldom changes, and this runs for
// each entry.
func encodeSlotWith(k kept, remembered []byte, seq uint64) ([]byte, error) {
	k.Memory = rollcall.Memory{}
	body, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	if len(remembered) > len("{}") {
		body = append(append(body[:len(body)-1], ','), remembered[1:]...)
	}
	if len(body) > slotBytes-slotHead {
		return nil, fmt.Errorf("%d bytes, at most %d fit", len(body), slotBytes-slotHead)
	}
	b := make([]byte, 0, slotBytes)
	b = append(b, ballotMagic...)
	b = binary.BigEndian.AppendUint64(b, seq)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(b, crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, body))
	return append(b, body...)[:slotBytes], nil
}

func decodeSlot(b []byte) (k kept, seq uint64, err error) {
	if len(b) != slotBytes || string(b[:len(ballotMagic)]) != ballotMagic {
		return k, 0, errors.New("is none of this version")
	}
	seq = binary.BigEndian.Uint64(b[len(ballotMagic):])
	n := binary.BigEndian.Uint32(b[len(ballotMagic)+8:])
	if n > uint32(slotBytes-slotHead) {
		return k, 0, fmt.Errorf("announces %d bytes, at most %d fit", n, slotBytes-slotHead)
	}
	body := b[slotHead : slotHead+int(n)]
	sum := crc32.Update(crc32.Checksum(b[:slotHead-4], castagnoli), castagnoli, body)
	if binary.BigEndian.Uint32(b[slotHead-4:]) != sum {
		return k, 0, errSum
	}
	return k, seq, json.Unmarshal(body, &k)
}

var errSum = errors.New("its checksum is wrong")

// openBallot opens the file, or creates it if fresh is set: nothing has been kept yet.
func openBallot(d *disk, fresh bool) (*ballot, error) {
	b := &ballot{disk: d, kept: kept{Values: map[string][]byte{}}}
	path := filepath.Join(d.dir, VoteFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && fresh {
		slot, err := encodeSlot(b.kept, 1)
		if err != nil {
			return nil, err
		}
		raw = append(slot, slot...)
		if err := d.put(path, raw); err != nil {
			return nil, fmt.Errorf("open log: %w", err)
		}
	} else if err != nil {
		return nil, &Damage{File: path, Cause: err}
	}
	if len(raw) != 2*slotBytes {
		return nil, &Damage{File: path, Offset: int64(len(raw)),
			Cause: fmt.Errorf("it has %d bytes, not %d", len(raw),
				2*slotBytes)}
	}
	for i := range 2 {
		k, seq, e := decodeSlot(raw[i*slotBytes : (i+1)*slotBytes])
		if e != nil {
			err = &Damage{File: path, Offset: int64(i * slotBytes), Cause: e}
			continue
		}
		b.good[i] = true
		if seq > b.seq {
			b.kept, b.seq, b.newv = k, seq, i
		}
	}
	if b.seq == 0 {
		return nil, err
	}
	if b.kept.Values == nil {
		b.kept.Values = map[string][]byte{}
	}
	b.Hold(b.kept.Memory)
	if b.f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if !b.good[0] || !b.good[1] { // a write that a crash cut short, or one slot has rotted
		if err := b.save(b.kept, true); err != nil {
			return nil, errors.Join(fmt.Errorf("open log: %w", err), b.f.Close())
		}
	}
	return b, nil
}

// save writes k to the slot with the older ballot, and also to the other slot if both is set. The
// caller holds the lock, or is the only user of b.
func (b *ballot) save(k kept, both bool) error {
	slot := 1 - b.newv
	live := b.live.Load()
	if b.of != live {
		text, err := json.Marshal(live)
		if err != nil {
			return err
		}
		b.of, b.remembered = live, text
	}
	for range 1 + btoi(both) {
		raw, err := encodeSlotWith(k, b.remembered, b.seq+1)
		if err != nil {
			return err
		}
		b.good[slot] = false
		if err := b.disk.write(b.f, raw, int64(slot*slotBytes)); err != nil {
			return err
		}
		if err := b.disk.sync(b.f); err != nil {
			return err
		}
		b.seq, b.newv, b.good[slot] = b.seq+1, slot, true
		slot = 1 - slot
	}
	b.kept = k
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// mark notes how far the log reaches, last, or the newest snapshot.
func (b *ballot) mark(change func(*kept)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.kept
	change(&k)
	return b.save(k, false)
}

// Recall implements rollcall.Keeper.
func (b *ballot) Recall() rollcall.Memory { return *b.live.Load() }

// Hold implements rollcall.Keeper: it is written with whatever is written next.
func (b *ballot) Hold(m rollcall.Memory) { b.live.Store(&m) }

// Keep implements rollcall.Keeper.
func (b *ballot) Keep(m rollcall.Memory) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.live.Swap(&m)
	err := b.save(b.kept, true)
	if err != nil {
		b.live.Store(was)
	}
	return err
}

func (b *ballot) known() kept {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept
}

var errNotFound = errors.New("not found") // raft compares the text

// Get implements raft.StableStore.
func (b *ballot) Get(key []byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, ok := b.kept.Values[string(key)]
	if !ok {
		return nil, errNotFound
	}
	return append([]byte(nil), v...), nil
}

// GetUint64 implements raft.StableStore.
func (b *ballot) GetUint64(key []byte) (uint64, error) {
	v, err := b.Get(key)
	switch {
	case err != nil:
		return 0, err
	case len(v) != 8:
		return 0, fmt.Errorf("%q has %d bytes, not 8", key, len(v))
	}
	return binary.BigEndian.Uint64(v), nil
}

// Set implements raft.StableStore. Raft goes on without a vote that cannot be kept, but not without a
// term, so Set waits for the disk then.
func (b *ballot) Set(key, v []byte) error {
	for {
		err := b.set(key, v)
		if err == nil {
			return nil
		}
		b.disk.health.fail(err)
		if string(key) != keyTerm {
			return err
		}
		if !b.running.Load() {
			b.disk.health.quit(fmt.Errorf("start raft: %w", err))
		}
		select {
		case <-b.disk.health.closed:
			runtime.Goexit()
		case <-time.After(probeEvery):
		}
	}
}

func (b *ballot) set(key, v []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.kept.Values[string(key)]; ok && string(old) == string(v) {
		return nil
	}
	k := b.kept
	k.Values = make(map[string][]byte, len(b.kept.Values)+1)
	for key, v := range b.kept.Values {
		k.Values[key] = v
	}
	k.Values[string(key)] = append([]byte(nil), v...)
	return b.save(k, true)
}

// SetUint64 implements raft.StableStore.
func (b *ballot) SetUint64(key []byte, v uint64) error {
	return b.Set(key, binary.BigEndian.AppendUint64(nil, v))
}

func (b *ballot) close() error { return b.f.Close() }
