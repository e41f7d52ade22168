package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"lightloom/southbound"
)

// arrivals follows switches until each has answered and, where it is to have rules, has them.
type arrivals struct {
	switches []arriving
	out      io.Writer
	within   time.Duration // of one question to a switch
	again    time.Duration // between two of them
	remind   time.Duration // between two lines about the same reason

	// claimed reports whether the leader has claimed a switch of this name: then it is reached in another
	// way than at the start, since the fabric has been changed.
	claimed func(ctx context.Context, name string) bool

	mu     sync.Mutex
	phases []phase // by switch
	change chan struct{}
}

// arriving is a switch that is waited for.
type arriving struct {
	name  string
	dev   southbound.Device
	rules bool // it is to have some
}

// phase is how far a switch has come.
type phase int

const (
	unasked phase = iota
	failing       // it does not answer, or is not what it should be
	unready       // it answers and has no rules yet
	arrived
)

// The times of a controller: a dead or unfit switch is reported within 5 s.
const (
	arrivalWithin = 4 * time.Second
	arrivalAgain  = 50 * time.Millisecond
	arrivalRemind = 10 * time.Second
)

func newArrivals(all []arriving, claimed func(context.Context, string) bool, out io.Writer) *arrivals {
	return &arrivals{switches: all, claimed: claimed, out: out, within: arrivalWithin, again: arrivalAgain,
		remind: arrivalRemind, phases: make([]phase, len(all)), change: make(chan struct{}, 1)}
}

// follow asks every switch until it has arrived, or ctx ends. It prints a line for each that has, or
// that fails.
func (a *arrivals) follow(ctx context.Context) {
	var wg sync.WaitGroup
	for i := range a.switches {
		wg.Go(func() { a.one(ctx, i) })
	}
	wg.Wait()
}

func (a *arrivals) one(ctx context.Context, i int) {
	s := a.switches[i]
	tick := time.NewTicker(a.again)
	defer tick.Stop()
	reason, told := "", time.Now()
	for {
		p, err := s.ask(ctx, a.within)
		if ctx.Err() != nil {
			return
		}
		late := time.Since(told) > a.remind
		if p == failing && late && a.claimed(ctx, s.name) {
			p = arrived
		}
		switch {
		case p == arrived:
			a.say("switch %s is ready\n", s.name)
		case p == failing && err.Error() != reason || late:
			reason, told = err.Error(), time.Now()
			a.say("switch %s is not ready: %v\n", s.name, err)
		}
		if a.note(i, p); p == arrived {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ask asks the switch for its state. Without an error it has arrived.
func (s arriving) ask(ctx context.Context, within time.Duration) (phase, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	seen, err := s.dev.Read(ctx)
	switch {
	case err != nil:
		return failing, err
	case s.rules && len(seen.Rules) == 0:
		return unready, errors.New("it has no rules yet")
	}
	return arrived, nil
}

func (a *arrivals) say(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.out, format, args...)
}

func (a *arrivals) note(i int, p phase) {
	a.mu.Lock()
	a.phases[i] = p
	a.mu.Unlock()
	select {
	case a.change <- struct{}{}:
	default:
	}
}

// settled waits until all switches that answer have arrived, at least one of them, and returns the
// names of the others; false if ctx ends before. Switches that start beside the controller have as long
// as a question takes to answer.
func (a *arrivals) settled(ctx context.Context) (missing []string, ok bool) {
	patience := time.NewTimer(a.within)
	defer patience.Stop()
	for patient := true; ; {
		a.mu.Lock()
		waits := slices.Contains(a.phases, unasked) || slices.Contains(a.phases, unready) ||
			!slices.Contains(a.phases, arrived) || patient && slices.Contains(a.phases, failing)
		missing = nil
		for i, p := range a.phases {
			if p != arrived {
				missing = append(missing, a.switches[i].name)
			}
		}
		a.mu.Unlock()
		if !waits {
			return missing, true
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-patience.C:
			patient = false
		case <-a.change:
		}
	}
}

// without is what a line about the fabric says of the switches that have not arrived.
func without(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return ", without " + strings.Join(missing, ", ")
}
