package fefi

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// A signal is sent when light changes and again every repeat, because a frame may be lost and a switch may come later;
// one that has not been heard for silence means darkness.
const (
	repeat  = 100 * time.Millisecond
	silence = 5 * repeat
)

// Teller is the optical switch's end of one port.
type Teller struct {
	port *Port
	lit  atomic.Bool
}

// NewTeller tells darkness until Set says otherwise.
func NewTeller(p *Port) *Teller { return &Teller{port: p} }

// Set tells at once. It does not block.
func (t *Teller) Set(lit bool) error {
	t.lit.Store(lit)
	return t.port.Send(Signal{lit})
}

// Run repeats what was told last until ctx ends (nil).
func (t *Teller) Run(ctx context.Context) error {
	tick := time.NewTicker(repeat)
	defer tick.Stop()
	for {
		if err := t.port.Send(Signal{t.lit.Load()}); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Listen calls light with what the other end tells, at each change and first with darkness, until ctx ends (nil). It
// closes p.
func Listen(ctx context.Context, p *Port, light func(lit bool)) error {
	defer p.Close()
	defer context.AfterFunc(ctx, func() { p.Close() })()
	lit := false
	light(false)
	for ctx.Err() == nil {
		s, ok, err := p.Receive(time.Now().Add(silence))
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if now := ok && s.Lit; now != lit {
			lit = now
			light(lit)
		}
	}
	return nil
}
