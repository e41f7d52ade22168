package capture

import (
	"context"
	"strings"
	"sync"
)

// Limits of notes: a reader cannot follow a device that emits more than this.
const (
	maxNotes = 1 << 16 // that wait to be written
	maxText  = 512     // bytes of one
)

// Notebook takes notes from callers that must not block, and passes them to the file.
type Notebook struct {
	mu      sync.Mutex
	waiting []Note
	missed  uint64
	kick    chan struct{}
}

// NewNotebook makes an empty notebook.
func NewNotebook() *Notebook { return &Notebook{kick: make(chan struct{}, 1)} }

// Add takes a note. It never blocks.
func (b *Notebook) Add(n Note) {
	n.Text = strings.Map(oneLine, n.Text[:min(len(n.Text), maxText)])
	b.mu.Lock()
	if len(b.waiting) < maxNotes {
		b.waiting = append(b.waiting, n)
	} else {
		b.missed++
	}
	b.mu.Unlock()
	select {
	case b.kick <- struct{}{}:
	default:
	}
}

func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

func (b *Notebook) lost() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.missed
}

// follow hands notes to write until ctx ends; those that came before are written in any case.
func (b *Notebook) follow(ctx context.Context, write func(Note) error) error {
	for {
		b.mu.Lock()
		batch := b.waiting
		b.waiting = nil
		b.mu.Unlock()
		for _, n := range batch {
			if err := write(n); err != nil {
				return err
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.kick:
		}
	}
}
