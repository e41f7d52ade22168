package run

import (
	"context"
	"fmt"
	"net"
	"sync"

	"lightloom/southbound"
)

// front is the gNMI server of one switch, which goes away with the switch's power and comes back with it at the same
// address.
type front struct {
	stage *stage
	id    southbound.DeviceID
	srv   *server

	mu   sync.Mutex
	dark bool
	end  context.CancelFunc // of the server that runs; nil while none does
	gone chan struct{}      // closed once it has ended
	lit  chan struct{}      // one token: power is back
}

func newFront(s *stage, id southbound.DeviceID, srv *server) *front {
	return &front{stage: s, id: id, srv: srv, lit: make(chan struct{}, 1)}
}

// run serves until ctx ends.
func (f *front) run(ctx context.Context) error {
	for {
		err := f.serve(ctx)
		f.mu.Lock()
		dark := f.dark
		f.mu.Unlock()
		if ctx.Err() != nil || !dark {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.lit:
		}
	}
}

func (f *front) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := make(chan struct{})
	defer close(gone)
	f.mu.Lock()
	f.end, f.gone = cancel, gone
	dark, run := f.dark, f.srv.run
	f.mu.Unlock()
	if dark {
		return nil
	}
	return run(ctx)
}

// off ends the server: its connections break, and nobody answers at its address.
func (f *front) off(ctx context.Context) error {
	f.mu.Lock()
	f.dark = true
	end, gone := f.end, f.gone
	f.mu.Unlock()
	if end == nil {
		return nil
	}
	end()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// on listens again at the same address.
func (f *front) on() error {
	addr := f.srv.ln.Addr().String()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for %s again: %w", f.srv.name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.srv.ln = ln
	if err := f.stage.frontOf(f.id, f.srv); err != nil {
		return err
	}
	f.dark = false
	select {
	case f.lit <- struct{}{}:
	default:
	}
	return nil
}
