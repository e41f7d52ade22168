package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// setNetwork is the name of the call that tells an agent which hosts there are.
const setNetwork = "set network"

// trouble is which kinds of calls failed when they were made last. The zero value is of an agent
// without any.
type trouble struct {
	mu sync.Mutex
	by map[string]error
}

// note keeps how a call has ended, and reports whether the last of its kind has ended otherwise.
func (t *trouble) note(call string, err error) (news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.by[call]
	if err == nil {
		delete(t.by, call)
		return was != nil
	}
	if t.by == nil {
		t.by = map[string]error{}
	}
	t.by[call] = err
	return was == nil || was.Error() != err.Error()
}

// clear forgets all but the error of the call that is to be made again.
func (t *trouble) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.by, func(call string, _ error) bool { return call != setNetwork })
}

// of returns how the last call of a kind has failed; nil: it has not.
func (t *trouble) of(call string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[call]
}

// all joins what has failed, by name of the call.
func (t *trouble) all() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, call := range slices.Sorted(maps.Keys(t.by)) {
		errs = append(errs, fmt.Errorf("%s: %w", call, t.by[call]))
	}
	return errors.Join(errs...)
}

// Agents returns how the agent is.
func (c *Client) Agents() []southbound.AgentState {
	return []southbound.AgentState{{Addr: c.cfg.Addr, Err: c.trouble.all()}}
}

// Agents returns how each agent is, in their order.
func (f *Fleet) Agents() (all []southbound.AgentState) {
	for _, m := range f.members {
		m.mu.Lock()
		lost, why := m.lost, m.why
		m.mu.Unlock()
		if !lost {
			why = m.client.trouble.all()
		}
		all = append(all, southbound.AgentState{Addr: m.client.cfg.Addr, Hosts: m.hosts, Lost: lost, Err: why})
	}
	return all
}

// unserved is why an agent cannot serve its hosts, such as that it cannot listen at their addresses;
// nil if it can. One that refuses the hosts serves those that it knew before, and one that is silent is
// lost for that.
func (c *Client) unserved() error {
	err := c.trouble.of(setNetwork)
	for _, other := range []error{southbound.ErrRefused, southbound.ErrUnsupported, wire.ErrUnavailable} {
		if errors.Is(err, other) {
			return nil
		}
	}
	return err
}
