package agent

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
)

// Events calls sink with every event from number `from` on (0: the oldest that the agent keeps), each
// once, in order and without a gap, until ctx ends (nil). A broken connection is made anew and the
// watch resumed. It returns an error that wraps southbound.ErrNotLeader once a larger election id is
// known, and ErrRestarted if the agent does not have the event that should come next. sink must not
// block for long.
func (c *Client) Events(ctx context.Context, from uint64, sink func(num uint64, e southbound.Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	whose := uint64(0) // the incarnation that numbers the events
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		next, err := c.watch(ctx, from, &whose, sink)
		switch {
		case ctx.Err() != nil:
			return nil
		case !errors.Is(err, wire.ErrUnavailable):
			return fmt.Errorf("watch events of agent %q: %w", c.cfg.Addr, err)
		}
		if next != from {
			from, wait = next, retryFirst
		}
		pause(ctx, wait)
	}
}

// watch follows one stream, and returns the number that should come next and why it ended.
func (c *Client) watch(ctx context.Context, from uint64, whose *uint64,
	sink func(uint64, southbound.Event)) (uint64,
	error) {
	stream, err := c.rpc.Watch(ctx, &agentpb.WatchRequest{Election: c.election(), From: from}, waitReady())
	if err != nil {
		return from, wire.FromStatus(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return from, streamError(err)
		}
		if *whose == 0 {
			*whose = m.GetIncarnation()
		}
		if m.GetIncarnation() != *whose {
			return from, fmt.Errorf("another process answers: %w", ErrRestarted)
		}
		if n := uint64(len(m.GetEvents())); m.GetFirst() == 0 || m.GetFirst()+n < m.GetFirst() {
			return from, fmt.Errorf("%d events came with number %d", n, m.GetFirst())
		}
		if from != 0 && m.GetFirst() > from {
			return from, fmt.Errorf("event %d came where %d was due", m.GetFirst(), from)
		}
		for i, me := range m.GetEvents() {
			num := m.GetFirst() + uint64(i)
			if num < from {
				continue // reported already, on an earlier stream
			}
			e, err := wire.EventOf(me)
			if err != nil {
				return from, err
			}
			sink(num, e)
			from = num + 1
		}
	}
}

// streamError maps a stream's end; an agent that ends a stream without a word is asked again.
func streamError(err error) error {
	if errors.Is(err, io.EOF) {
		return wire.ErrUnavailable
	}
	return wire.FromStatus(err)
}

// follow keeps the progress stream open while this client leads: it opens after a call went through,
// and after a larger election id it waits for the next that does.
func (c *Client) follow() {
	for {
		select {
		case <-c.kick:
		case <-c.ctx.Done():
			return
		}
		err := c.followUntilFenced()
		if c.ctx.Err() != nil {
			return
		}
		if !errors.Is(err, southbound.ErrNotLeader) {
			c.cfg.OnError(fmt.Errorf("follow progress of agent %q: %w", c.cfg.Addr, err))
		}
	}
}

func (c *Client) followUntilFenced() error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		told, err := c.progress()
		if c.ctx.Err() != nil || !errors.Is(err, wire.ErrUnavailable) {
			return err
		}
		if told {
			wait = retryFirst
		}
		pause(c.ctx, wait)
	}
}

// progress follows one stream; told reports whether anything came over it.
func (c *Client) progress() (told bool, err error) {
	stream, err := c.rpc.Progress(c.ctx, &agentpb.ProgressRequest{Election: c.election(),
		IntervalNs: int64(c.cfg.Interval)}, waitReady())
	if err != nil {
		return false, wire.FromStatus(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return told, streamError(err)
		}
		told = true
		c.backlog.mergeReport(m)
	}
}
