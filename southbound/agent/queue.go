package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// maxQueue bounds the calls that wait for an agent that does not answer. At one rate change a
// millisecond it lasts longer than the agent has to come back.
const maxQueue = 1 << 16

// call is one request to the agent. do may run several times.
type call struct {
	name string
	do   func(ctx context.Context) error
}

// queue holds calls in their order.
type queue struct {
	mu    sync.Mutex
	calls []call
	ready chan struct{} // holds one token while calls may be waiting
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

func (q *queue) push(c call) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) >= maxQueue {
		return fmt.Errorf("%s: %d calls wait already: %w", c.name, len(q.calls), wire.ErrUnavailable)
	}
	q.calls = append(q.calls, c)
	signal(q.ready)
	return nil
}

// pop waits for the next call; false once ctx has ended.
func (q *queue) pop(ctx context.Context) (call, bool) {
	for {
		if c, ok := q.take(); ok {
			return c, true
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return call{}, false
		}
	}
}

func (q *queue) take() (call, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 {
		return call{}, false
	}
	c := q.calls[0]
	q.calls[0] = call{}
	if q.calls = q.calls[1:]; len(q.calls) == 0 {
		q.calls = nil
	}
	return c, true
}

// drop removes all calls but flushes from the queue: a caller waits for each flush.
func (q *queue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.calls[:0]
	for _, c := range q.calls {
		if c.name == "flush" {
			kept = append(kept, c)
		}
	}
	q.calls = kept
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (c *Client) enqueue(name string, do func(ctx context.Context) error) error {
	if c.ctx.Err() != nil {
		return fmt.Errorf("%s: the client of agent %q is closed", name, c.cfg.Addr)
	}
	return c.queue.push(call{name: name, do: do})
}

// send is the queue's goroutine: one call after the other, each until it has an answer.
func (c *Client) send() {
	for {
		next, ok := c.queue.pop(c.ctx)
		if !ok {
			return
		}
		err := c.attempt(next)
		news := errors.Is(err, southbound.ErrNotLeader) || c.trouble.note(next.name, err)
		switch {
		case err == nil:
			signal(c.kick)
		case c.ctx.Err() != nil:
			return
		default:
			if errors.Is(err, southbound.ErrNotLeader) {
				c.queue.drop()
			}
			if next.name == setNetwork && !news { // it is tried again and again
				continue
			}
			c.cfg.OnError(fmt.Errorf("%s at agent %q: %w", next.name, c.cfg.Addr, err))
		}
	}
}

// attempt makes a call until it is answered; errors that would come again are returned.
func (c *Client) attempt(next call) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		ctx, cancel := context.WithTimeout(c.ctx, c.cfg.CallTimeout)
		err := wire.FromStatus(next.do(ctx))
		cancel()
		if err == nil || !errors.Is(err, wire.ErrUnavailable) || c.ctx.Err() != nil {
			return err
		}
		c.trouble.note(next.name, err)
		pause(c.ctx, wait)
	}
}

// waitReady makes streams wait for a connection instead of failing at once.
func waitReady() grpc.CallOption { return grpc.WaitForReady(true) }
