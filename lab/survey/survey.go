package survey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller/audit"
	"lightloom/southbound"
)

// Site is the fabric that a survey examines.
type Site struct {
	Name     string // of the optical switch
	OCS      southbound.Device
	Expected audit.Map // by port of the optical switch

	// Hear returns the neighbours that each switch hears now, over any cable. since is the age of the present circuits:
	// earlier announcements do not count. notes lists the switches that could not be read.
	Hear func(ctx context.Context, since time.Duration) (heard []audit.Heard, notes []string, err error)

	Settle    time.Duration // from circuits that are up to neighbours that have heard
	Interrupt bool          // survey although circuits are up; they are dark meanwhile

	Wait     func(ctx context.Context, d time.Duration) error // nil: real time
	Progress func(round, circuits int)                        // nil: not reported
}

// Result is the result of a survey.
type Result struct {
	Expected audit.Map       `json:"-"`
	Found    audit.Map       `json:"-"`
	Ports    []Port          `json:"ports"`
	Rounds   int             `json:"rounds"`
	Switch   string          `json:"switch"` // the optical one
	Findings []audit.Finding `json:"findings"`
	Notes    []string        `json:"notes"`
}

// Port is one line of the fibre map.
type Port struct {
	Port        int    `json:"port"`
	InExpected  string `json:"in_expected"`
	InFound     string `json:"in_found"`
	OutExpected string `json:"out_expected"`
	OutFound    string `json:"out_found"`
}

// ErrCircuits means that circuits are up, and the survey is not allowed to interrupt them.
var ErrCircuits = errors.New("circuits stand")

// Run surveys. It restores the earlier circuits afterwards, also after an error, if the switch still answers.
func Run(ctx context.Context, s Site) (r *Result, err error) {
	if s.Wait == nil {
		s.Wait = wait
	}
	seen, err := s.OCS.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("survey: read circuits: %w", err)
	}
	standing := restorable(seen)
	if len(standing) > 0 && !s.Interrupt {
		return nil, fmt.Errorf("survey: %d %w and would be interrupted", len(standing), ErrCircuits)
	}
	defer func() {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreWithin)
		defer cancel()
		if e := s.OCS.Set(back, &southbound.Change{Replace: true, Connect: standing}); e != nil {
			err = errors.Join(err, fmt.Errorf("survey: put %d circuits back: %w", len(standing), e))
		}
	}()
	w := audit.NewWalk(s.Expected.Ports())
	r = &Result{Expected: s.Expected, Switch: s.Name}
	for round, ok := w.Next(); ok; round, ok = w.Next() {
		if s.Progress != nil {
			s.Progress(w.Rounds(), len(round))
		}
		if err := s.round(ctx, w, round, r); err != nil {
			return nil, fmt.Errorf("survey: round %d: %w", w.Rounds(), err)
		}
	}
	r.conclude(w)
	return r, nil
}

// restoreWithin bounds the time to restore circuits.
const restoreWithin = 10 * time.Second

// restorable returns the circuits of a reading in the form in which they are set again.
func restorable(seen southbound.Seen) (all []southbound.CrossConnect) {
	for _, c := range seen.Connections {
		if c.Status == southbound.Connected || c.Status == southbound.PendingConnection {
			all = append(all, southbound.CrossConnect{In: c.In, Out: c.Out})
		}
	}
	return all
}

// round makes the circuits of one round, waits, and reads what the switches heard.
func (s *Site) round(ctx context.Context, w *audit.Walk, round []southbound.CrossConnect, r *Result) error {
	if err := s.OCS.Set(ctx, &southbound.Change{Replace: true, Connect: round}); err != nil {
		return fmt.Errorf("set %d circuits: %w", len(round), err)
	}
	failed, err := s.connected(ctx, round)
	if err != nil {
		return err
	}
	if err := s.Wait(ctx, s.Settle); err != nil {
		return err
	}
	heard, notes, err := s.Hear(ctx, s.Settle)
	if err != nil {
		return err
	}
	for _, n := range notes {
		if !slices.Contains(r.Notes, n) {
			r.Notes = append(r.Notes, n)
		}
	}
	w.Hear(failed, heard)
	return nil
}

// How the survey waits for circuits.
const (
	connectWithin = 10 * time.Second
	connectPoll   = 20 * time.Millisecond
)

// connected waits until every circuit of a round is up, has failed, or is late, and returns those that are not up.
func (s *Site) connected(ctx context.Context,
	round []southbound.CrossConnect) (missing []southbound.CrossConnect,
	err error) {
	for waited := time.Duration(0); ; waited += connectPoll {
		seen, err := s.OCS.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("read circuits: %w", err)
		}
		missing = nil
		pending := false
		for _, c := range round {
			i := slices.IndexFunc(seen.Connections,
				func(o southbound.Connection) bool { return o.In == c.In && o.Out == c.Out })
			if i >= 0 && seen.Connections[i].Status == southbound.Connected {
				continue
			}
			missing = append(missing, c)
			pending = pending || i < 0 || seen.Connections[i].Status == southbound.PendingConnection
		}
		// What is to go must be gone, too: light of the last round would be taken for this one's.
		leaving := len(seen.Connections) > len(round)
		if !pending && !leaving || waited >= connectWithin {
			return missing, nil
		}
		if err := s.Wait(ctx, connectPoll); err != nil {
			return nil, err
		}
	}
}

// wait waits in real time.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

func (r *Result) conclude(w *audit.Walk) {
	r.Found, _, _ = w.Found()
	r.Rounds, r.Findings = w.Rounds(), audit.Judge(r.Expected, w)
	for i := range r.Findings {
		r.Findings[i].Switch = r.Switch
	}
	for p := range r.Expected.In {
		r.Ports = append(r.Ports, Port{p, r.Expected.In[p].String(), r.Found.In[p].String(),
			r.Expected.Out[p].String(),
			r.Found.Out[p].String()})
	}
}
