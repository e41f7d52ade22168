package leader

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrVacant means that this replica does not lead.
var ErrVacant = errors.New("this replica does not lead")

// Current is a replica's leadership while it lasts; the API uses it to hand over jobs. The zero value
// is that of a replica that does not lead.
type Current struct{ now atomic.Pointer[Leader] }

// Run runs a leadership, which is the current one meanwhile.
func (c *Current) Run(ctx context.Context, term uint64, l *Leader) error {
	c.now.Store(l)
	defer c.now.Store(nil)
	return l.Run(ctx, term)
}

// Leader returns the current leadership, or nil if the replica does not lead: methods that accept a nil
// Leader document it.
func (c *Current) Leader() *Leader { return c.now.Load() }

// Ready reports whether the current leadership has brought every device into its state.
func (c *Current) Ready() bool {
	l := c.Leader()
	if l == nil {
		return false
	}
	select {
	case <-l.Ready():
		return true
	default:
		return false
	}
}
