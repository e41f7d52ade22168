package dataplane

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"lightloom/southbound"
)

var errClosed = errors.New("dataplane is closed")

// Guard is what kernel dataplanes have in common: it takes the calls of device.Plane, one at a time,
// and refuses those that the switch has no part for, and all after Shut.
type Guard struct {
	Switch Switch
	Rules  Rules  // of a packet switch; nil of an OCS
	Optics Optics // of an OCS; nil of a packet switch

	Mu     sync.Mutex // held by each call
	Closed bool
}

// Rules are the forwarding rules of a packet switch in the kernel.
type Rules interface {
	// Set changes the rules as device.Plane says. Rules and matches have been checked by then.
	Set(set []southbound.Rule, drop []southbound.Match, replace bool) error
	// Light sets whether a port has light.
	Light(port southbound.Port, lit bool) error
}

// Optics are the circuits of an OCS in the kernel.
type Optics interface {
	// Move changes them as device.Plane says. Ports have been checked by then.
	Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error
}

// Do makes a call that is named so, such as "set rules". lacks says why the switch cannot; empty: it can.
func (g *Guard) Do(what, lacks string, call func() error) error {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	switch {
	case g.Closed:
		return fmt.Errorf("%s of %q: %w", what, g.Switch.Name, errClosed)
	case lacks != "":
		return fmt.Errorf("%s of %q: %s: %w", what, g.Switch.Name, lacks, southbound.ErrUnsupported)
	}
	if err := call(); err != nil {
		return fmt.Errorf("%s of %q: %w", what, g.Switch.Name, err)
	}
	return nil
}

// lack returns what, unless there is the part.
func lack(there bool, what string) string {
	if there {
		return ""
	}
	return what
}

// SetRules is device.Plane's.
func (g *Guard) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	return g.Do("set rules", lack(g.Rules != nil, "an optical circuit switch has none"), func() error {
		for _, s := range set {
			if err := g.Switch.CheckRule(s); err != nil {
				return err
			}
		}
		for _, m := range drop {
			if err := g.Switch.CheckMatch(m); err != nil {
				return err
			}
		}
		return g.Rules.Set(set, drop, replace)
	})
}

// SetLight is device.Plane's.
func (g *Guard) SetLight(port southbound.Port, lit bool) error {
	return g.Do("set light", lack(g.Rules != nil, "an optical circuit switch senses none"), func() error {
		return g.Rules.Light(port, lit)
	})
}

// Move is device.Plane's.
func (g *Guard) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	return g.Do("move circuits", lack(g.Optics != nil, "a packet switch has none"), func() error {
		for _, x := range on {
			for _, port := range []southbound.Port{x.In, x.Out} {
				if _, err := g.Switch.Link(port); err != nil && !x.Off {
					return fmt.Errorf("circuit %d→%d: %w", x.In, x.Out, err)
				}
			}
		}
		return g.Optics.Move(off, on, dark)
	})
}

// Shut has all later calls refused, and reports whether it is the first to do so.
func (g *Guard) Shut() bool {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	first := !g.Closed
	g.Closed = true
	return first
}
