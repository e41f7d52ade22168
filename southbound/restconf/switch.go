package restconf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"lightloom/southbound"
)

// Switch is an optical switch behind RESTCONF. It is safe for several goroutines; changes go out one
// after the other.
type Switch struct {
	c    *client
	turn chan struct{} // one token: the queue of changes

	mu    sync.Mutex
	kicks []chan struct{} // of the watchers: poll now
}

var _ southbound.Device = (*Switch)(nil)

// New makes a driver, without sending a request. Close it when it is no longer used.
func New(cfg Config) (*Switch, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("open switch %q: %w", cfg.Name, err)
	}
	return &Switch{c: newClient(cfg), turn: make(chan struct{}, 1)}, nil
}

// Close lets go of connections.
func (s *Switch) Close() error {
	s.c.http.CloseIdleConnections()
	return nil
}

// Set implements southbound.Device. A change of one pair is one request for it; any other is one
// replacement of the list, under the entity tag that was read where the switch gives one, so that it is
// taken whole or not at all, and what others have made meanwhile is not lost. Pairs that stand are
// never taken down in between.
func (s *Switch) Set(ctx context.Context, c *southbound.Change) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("set switch %q: wait for earlier changes: %w", s.c.cfg.Name, ctx.Err())
	}
	err := check(c, s.c.cfg.Ports)
	if err == nil && !c.Empty() {
		if err = s.set(ctx, c); errors.Is(err, errChanged) {
			err = s.set(ctx, c)
		}
	}
	if err != nil {
		return fmt.Errorf("set switch %q: %w", s.c.cfg.Name, err)
	}
	s.kick()
	return nil
}

func check(c *southbound.Change, ports int32) error {
	ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	ok := func(p southbound.Port) bool { return p >= 0 && int32(p) < ports }
	if len(c.Rules)+len(c.Drop) > 0 {
		return fmt.Errorf("an optical switch takes no rules: %w", southbound.ErrRefused)
	}
	for _, x := range c.Connect {
		if !ok(x.In) || !x.Off && !ok(x.Out) || ins[x.In] || !x.Off && outs[x.Out] {
			return fmt.Errorf("circuit %d→%d: ports are 0 to %d, each once in a change: %w", x.In, x.Out, ports-1,
				southbound.ErrRefused)
		}
		ins[x.In] = true
		if !x.Off {
			outs[x.Out] = true
		}
	}
	return nil
}

func (s *Switch) set(ctx context.Context, c *southbound.Change) error {
	have, etag, err := s.c.pairs(ctx)
	if err != nil {
		return err
	}
	next := after(have, c, s.c.cfg.Ports)
	gone, made := difference(have, next)
	switch {
	case len(gone)+len(made) == 0:
		return nil
	case len(gone) == 1 && len(made) == 0:
		_, err = s.c.ask(ctx, http.MethodDelete, entry(gone[0]), nil, "")
		return err
	case len(made) == 1 && (len(gone) == 0 || len(gone) == 1 && gone[0].Ingress == made[0].Ingress):
		body, merr := json.Marshal(map[string][]Pair{"optical-switch:pair": made})
		if merr != nil {
			return merr
		}
		_, err = s.c.ask(ctx, http.MethodPut, entry(made[0]), body, "")
		return err
	}
	body, err := encodePairs(next)
	if err != nil {
		return err
	}
	_, err = s.c.ask(ctx, http.MethodPut, "", body, etag)
	return err
}

func entry(p Pair) string { return fmt.Sprintf("/pair=%d", p.Ingress) }

// difference returns what is in one list and not in the other; both are sorted by ingress.
func difference(have, next []Pair) (gone, made []Pair) {
	for _, p := range have {
		if !slices.Contains(next, p) {
			gone = append(gone, p)
		}
	}
	for _, p := range next {
		if !slices.Contains(have, p) {
			made = append(made, p)
		}
	}
	return gone, made
}

// Read implements southbound.Device.
func (s *Switch) Read(ctx context.Context) (southbound.Seen, error) {
	pairs, _, err := s.c.pairs(ctx)
	if err != nil {
		return southbound.Seen{}, fmt.Errorf("read switch %q: %w", s.c.cfg.Name, err)
	}
	var seen southbound.Seen
	for _, p := range pairs {
		x := p.circuit(s.c.cfg.Ports)
		seen.Connections = append(seen.Connections,
			southbound.Connection{In: x.In, Out: x.Out, Status: southbound.Connected})
	}
	return seen, nil
}

// Watch implements southbound.Device: it polls every Config.Every, and at once after a Set, and reports the
// differences.
func (s *Switch) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	kick := s.join()
	defer s.leave(kick)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last []Pair
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-kick:
		}
		pairs, _, err := s.c.pairs(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			sink(southbound.DeviceEvent{Kind: southbound.Lost, In: southbound.NoPort, Out: southbound.NoPort})
			return fmt.Errorf("watch switch %q: %w", s.c.cfg.Name, err)
		}
		s.report(last, pairs, sink)
		if first {
			sink(southbound.DeviceEvent{Kind: southbound.Synced, In: southbound.NoPort, Out: southbound.NoPort})
		}
		last = pairs
		timer.Reset(s.c.cfg.Every)
	}
}

// report emits events of removed pairs and then of new ones, by input.
func (s *Switch) report(last, pairs []Pair, sink func(southbound.DeviceEvent)) {
	gone, made := difference(last, pairs)
	for _, x := range []struct {
		pairs  []Pair
		status southbound.Status
	}{{gone, southbound.Disconnected}, {made, southbound.Connected}} {
		slices.SortFunc(x.pairs, func(a, b Pair) int { return cmp.Compare(a.Ingress, b.Ingress) })
		for _, p := range x.pairs {
			c := p.circuit(s.c.cfg.Ports)
			sink(southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: c.In, Out: c.Out, Status: x.status})
		}
	}
}

func (s *Switch) join() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	kick := make(chan struct{}, 1)
	s.kicks = append(s.kicks, kick)
	return kick
}

func (s *Switch) leave(kick chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kicks = slices.DeleteFunc(s.kicks, func(k chan struct{}) bool { return k == kick })
}

// kick makes all watchers poll at once.
func (s *Switch) kick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kicks {
		select {
		case k <- struct{}{}:
		default:
		}
	}
}
