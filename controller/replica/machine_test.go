package replica

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ledger is a Machine that remembers every entry in order: what a replicated state must not lose,
// repeat or reorder.
type ledger struct {
	entries []string
	chain   [32]byte
}

var errRefused = errors.New("refused by the ledger")

func (l *ledger) Read(e []byte) func() error { return func() error { return l.Apply(e) } }

func (l *ledger) Apply(e []byte) error {
	if bytes.HasPrefix(e, []byte("refuse")) {
		return errRefused
	}
	l.entries = append(l.entries, string(e))
	l.chain = sha256.Sum256(append(l.chain[:], e...))
	return nil
}

func (l *ledger) Snapshot() ([]byte, error) {
	var b bytes.Buffer
	for _, e := range l.entries {
		fmt.Fprintf(&b, "%d %s\n", len(e), e)
	}
	return b.Bytes(), nil
}

func (l *ledger) Restore(snap []byte) error {
	*l = ledger{}
	for r := bytes.NewReader(snap); r.Len() > 0; {
		var n int
		if _, err := fmt.Fscanf(r, "%d ", &n); err != nil {
			return err
		}
		e := make([]byte, n+1)
		if k, _ := r.Read(e); k != n+1 {
			return errors.New("truncated")
		}
		if err := l.Apply(e[:n]); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) Digest() [32]byte { return l.chain }

func (l *ledger) Freeze() Frozen { return &ledger{slices.Clone(l.entries), l.chain} }

func (n *Node) ledger() (entries []string) {
	n.View(func(uint64) { entries = slices.Clone(n.cfg.Machine.(*ledger).entries) })
	return entries
}
