package fefi

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// A signal is sent when light changes and again every repeat, because a frame can be lost and a switch
// can start later; no signal for the time silence means darkness.
const (
	repeat  = 100 * time.Millisecond
	silence = 5 * repeat
)

// Teller is the optical switch's end of one port.
type Teller struct {
	port *Port
	lit  atomic.Bool
}

// NewTeller returns a Teller that signals darkness until Set changes it.
func NewTeller(p *Port) *Teller { return &Teller{port: p} }

// Set signals at once. It does not block.
func (t *Teller) Set(lit bool) error {
	t.lit.Store(lit)
	return t.port.Send(Signal{lit})
}

// Run repeats the last signal until ctx ends (nil).
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

// Listen calls light with the other end's signals, first with darkness and then at each change, until
// ctx ends (nil). It closes p.
func Listen(ctx context.Context, p *Port, light func(lit bool)) error {
	defer p.Close()
	defer context.AfterFunc(ctx, func() { p.Close() })()
	lit := false
	light(false)
	for ctx.Err() == nil {
		s, ok, err := p.Receive(time.Now().Add(silence))
		if errors.Is(err, os.ErrClosed) || err != nil && ctx.Err() != nil {
			return nil // a deadline set for a closed file is refused by another error
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
