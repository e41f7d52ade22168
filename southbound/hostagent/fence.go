package hostagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/durable"
)

// fence keeps out leaders that have been replaced, also by those that the agent knew before it was
// restarted, where it has a file. The agent's lock guards it.
type fence struct {
	file    string        // keeps leader; "": nothing does
	leader  wire.Election // the largest seen
	changed chan struct{} // closed, and replaced, when a new leader comes
	asm     wire.Assembler
	net     wire.NetworkParts
	derived bool // the leader has set rates: pairs of the one before are forgotten
}

// newFence returns a fence with what its file holds. A missing file, or no name of one, is nothing.
func newFence(file string) (f fence, err error) {
	f = fence{file: file, changed: make(chan struct{})}
	if file == "" {
		return f, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return f, f.save(wire.Election{}) // better now than when a leader comes
	}
	if err == nil {
		f.leader, err = readElection(data)
	}
	if err != nil {
		return f, fmt.Errorf("read election id from %q: %w", file, err)
	}
	return f, nil
}

// readElection reads what save wrote.
func readElection(data []byte) (e wire.Election, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return wire.Election{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return wire.Election{}, errors.New("something follows it")
	}
	return e, nil
}

// save stores an election id before any caller relies on it.
func (f *fence) save(e wire.Election) error {
	if f.file == "" {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return durable.Replace(f.file, data, e.High > f.leader.High)
}

// admit lets e in, or returns an error if a larger election is known. A larger High is a new leader. If
// its id cannot be stored, admit refuses it, and a retry can succeed.
func (f *fence) admit(e wire.Election) error {
	switch order := e.Compare(f.leader); {
	case order < 0:
		return fmt.Errorf("election %v: %v is known: %w", e, f.leader, southbound.ErrNotLeader)
	case e == wire.Election{}:
		return fmt.Errorf("a call must carry an election id: %w", southbound.ErrNotLeader)
	case order == 0:
		return nil
	}
	if err := f.save(e); err != nil {
		return fmt.Errorf("keep election %v: %w: %w", e, err, wire.ErrUnavailable)
	}
	if e.High > f.leader.High {
		f.asm.Reset()
		f.net = wire.NetworkParts{}
		f.derived = false
		close(f.changed)
		f.changed = make(chan struct{})
	}
	f.leader = e
	return nil
}

// holds reports whether the leader that opened a stream still leads: its own later calls do not end it.
func (f *fence) holds(e wire.Election) error {
	if e.High < f.leader.High {
		return fmt.Errorf("election %v: %v is known: %w", e, f.leader, southbound.ErrNotLeader)
	}
	return nil
}
