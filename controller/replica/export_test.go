package replica

import (
	"context"
	"fmt"
)

// AwaitLeader waits until some replica is known to lead.
func (n *Node) AwaitLeader(ctx context.Context) (id, addr string, term uint64, err error) {
	if id, term, err = n.track.known(ctx); err != nil {
		return "", "", 0, fmt.Errorf("wait for a leader: %w", err)
	}
	return id, n.Addr(id), term, nil
}

// known waits until some node is known to lead.
func (t *tracker) known(ctx context.Context) (string, uint64, error) {
	for {
		t.mu.Lock()
		leader, term, changed, closed := t.leader, t.term, t.changed, t.closed
		t.mu.Unlock()
		switch {
		case closed != nil:
			return "", 0, closed
		case leader != "":
			return leader, term, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", 0, context.Cause(ctx)
		}
	}
}
