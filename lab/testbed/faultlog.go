package testbed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// FaultLog records what has failed in a running fabric, and when. It is safe for several goroutines.
type FaultLog struct {
	Names    *fault.Names
	striking sync.Mutex // one event at a time
	circuits []southbound.Tag

	mu     sync.Mutex
	damage *fault.Damage
	spans  []outcome.FaultSpan
	tables []time.Duration  // when rules for packets became effective; ascending
	levels []outcome.Sample // what had been received
}

// NewFaultLog returns the log of a fabric with that many replicas of a controller, with nothing failed.
func NewFaultLog(f *topo.Fabric, replicas int) *FaultLog {
	n := fault.NewNames(f, max(1, replicas))
	return &FaultLog{Names: n, damage: fault.NewDamage(n), circuits: southbound.CircuitTags(f)}
}

// faulty is a testbed that faults can be applied to.
type faulty interface {
	Now() time.Duration
	Apply(ctx context.Context, c fault.Change) error
}

// Inject makes something fail or recover. changed is false if it was already so.
func (l *FaultLog) Inject(ctx context.Context, tb faulty, e fault.Event) (changed bool, err error) {
	l.striking.Lock()
	defer l.striking.Unlock()
	changes, changed, err := l.note(e, tb.Now())
	for _, c := range changes {
		err = errors.Join(err, tb.Apply(ctx, c))
	}
	switch {
	case err != nil && e.At == 0: // somebody has typed it
		err = fmt.Errorf("%v: %w", e.Fault, err)
	case err != nil:
		err = fmt.Errorf("%v: %w", e, err)
	}
	return changed, err
}

// note records an event and returns the changes to apply.
func (l *FaultLog) note(e fault.Event, now time.Duration) ([]fault.Change, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changes, changed, err := l.damage.Inject(e)
	if !changed || err != nil {
		return nil, false, err
	}
	if !e.Heal {
		l.spans = append(l.spans, outcome.FaultSpan{Fault: e.Fault, From: now, To: state.Unset,
			Settled: state.Unset,
			Healed:  state.Unset})
		return changes, true, nil
	}
	for i := len(l.spans) - 1; i >= 0; i-- {
		if s := &l.spans[i]; s.To == state.Unset && l.Names.Same(s.Fault, e.Fault) {
			s.To = now
			break
		}
	}
	return changes, true, nil
}

// Failed returns what has failed and has not recovered.
func (l *FaultLog) Failed() []fault.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.damage.Failed()
}

// Cut reports whether something that has failed keeps the cable of a link dark.
func (l *FaultLog) Cut(link pathmap.LinkID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.damage.Cut(link)
}

// Applied notes that rules have become effective, unless they are a circuit's alone.
func (l *FaultLog) Applied(at time.Duration, a device.Applied) {
	circuit := func(t southbound.Tag) bool { return slices.Contains(l.circuits, t) }
	if !a.Replace && !slices.ContainsFunc(a.Set, func(r southbound.Rule) bool { return !circuit(r.Tag) }) &&
		!slices.ContainsFunc(a.Drop, func(m southbound.Match) bool { return !circuit(m.Tag) }) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tables = append(l.tables, at)
}

// TablesSince returns how many tables have changed since an instant, and when the last did.
func (l *FaultLog) TablesSince(from time.Duration) (n int, last time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tables {
		if t >= from {
			n, last = n+1, t
		}
	}
	return n, last
}

// sample records the bytes received.
func (l *FaultLog) sample(at time.Duration, received pathmap.Bytes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.levels = append(l.levels, outcome.Sample{At: at, Bytes: received})
}

// idle reports whether to stop sampling: no bytes were received for many samples after an instant, so
// that sampling does not keep a stalled run alive, or there are samples enough.
func (l *FaultLog) idle(now, after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	const many, enough = 400, 1 << 16
	n := len(l.levels)
	return n >= enough || n > many && now > after && l.levels[n-1].Bytes == l.levels[n-many].Bytes
}

// reaction is the longest time after an event in which a change counts as the controller's answer.
const reaction = 2 * time.Second

// settle finds for each fault when the tables had settled: the last change within reaction and before
// the next event.
func (l *FaultLog) settle() []outcome.FaultSpan {
	var events []time.Duration
	for _, s := range l.spans {
		events = append(events, s.From, s.To)
	}
	slices.Sort(events)
	last := func(from time.Duration) time.Duration {
		end := from + reaction
		for _, e := range events {
			if e > from {
				end = min(end, e)
				break
			}
		}
		at := state.Unset
		for _, t := range l.tables {
			if t >= from && t < end {
				at = t
			}
		}
		return at
	}
	for i := range l.spans {
		s := &l.spans[i]
		if s.Settled = last(s.From); s.To != state.Unset {
			s.Healed = last(s.To)
		}
	}
	return l.spans
}

// into adds the faults to an outcome of a run that ended at an instant.
func (l *FaultLog) into(o *outcome.Outcome, s *scenario.Scenario, end time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.Faults, o.Levels = l.settle(), l.levels
	for _, e := range s.Faults {
		if l.Names.Check(e.Fault) != nil {
			if e.Heal {
				continue
			}
			o.Notes = append(o.Notes, fmt.Sprintf("this row's fabric has no %v: it did not fail.", e.Fault))
		} else if e.At > end {
			o.Notes = append(o.Notes, fmt.Sprintf("%v: this did not happen, because the run ended at %v.", e,
				end.Round(time.Millisecond)))
		}
	}
}

// ColdBoot is how long a switch takes to boot after power returns, on all of our fabrics.
const ColdBoot = 500 * time.Millisecond
