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
	OCSes    []OCS
	Expected audit.Map // by port of the optical switches, those of the first before those of the next
	// Say is what an end is called in findings; nil: as LLDP has it.
	Say func(audit.End) string

	// Hear returns the neighbours that each switch hears now, over any cable. since is the age of the present circuits:
	// earlier announcements do not count. notes lists the switches that could not be read.
	Hear func(ctx context.Context, since time.Duration) (heard []audit.Heard, notes []string, err error)

	Settle    time.Duration // from circuits that are up to neighbours that have heard
	Interrupt bool          // survey although circuits are up; they are dark meanwhile

	Wait     func(ctx context.Context, d time.Duration) error // nil: real time
	Progress func(round, circuits int)                        // nil: not reported
}

// OCS is one of the optical switches.
type OCS struct {
	Name   string
	Device southbound.Device
	Ports  int
}

// Result is the result of a survey.
type Result struct {
	Expected audit.Map       `json:"-"`
	Found    audit.Map       `json:"-"`
	Ports    []Port          `json:"ports"`
	Rounds   int             `json:"rounds"`
	Switch   string          `json:"switch"` // the optical one; "" of several
	Findings []audit.Finding `json:"findings"`
	Notes    []string        `json:"notes"`
}

// Port is one line of the fibre map.
type Port struct {
	Switch      string `json:"switch"`
	Port        int    `json:"port"`
	InExpected  string `json:"in_expected"`
	InFound     string `json:"in_found"`
	OutExpected string `json:"out_expected"`
	OutFound    string `json:"out_found"`
}

// ErrCircuits means that circuits are up, and the survey is not allowed to interrupt them.
var ErrCircuits = errors.New("circuits stand")

// Run surveys all switches at once. It restores the earlier circuits afterwards, also after an error, as far as
// switches still answer.
func Run(ctx context.Context, s Site) (r *Result, err error) {
	if s.Wait == nil {
		s.Wait = wait
	}
	standing, err := s.standing(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.restore(ctx, standing)) }()
	r = &Result{Expected: s.Expected}
	var ports []int
	var names []string
	for i := range s.OCSes {
		ports, names = append(ports, s.OCSes[i].Ports), append(names, s.OCSes[i].Name)
	}
	if len(names) == 1 {
		r.Switch = names[0]
	}
	w := audit.NewWalk(ports...)
	w.Name(audit.Names{Switches: names, End: s.Say})
	for round, ok := w.Next(); ok; round, ok = w.Next() {
		if s.Progress != nil {
			s.Progress(w.Rounds(), len(round))
		}
		if err := s.round(ctx, w, round, r); err != nil {
			return nil, fmt.Errorf("survey: round %d: %w", w.Rounds(), err)
		}
	}
	s.conclude(r, w)
	return r, nil
}

// standing returns the circuits that each switch has. Where there are any, the survey must be allowed to interrupt.
func (s *Site) standing(ctx context.Context) (all [][]southbound.CrossConnect, err error) {
	n := 0
	for i := range s.OCSes {
		o := &s.OCSes[i]
		seen, err := o.Device.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("survey: read circuits of %s: %w", o.Name, err)
		}
		all = append(all, restorable(seen))
		n += len(all[i])
	}
	if n > 0 && !s.Interrupt {
		return nil, fmt.Errorf("survey: %d %w and would be interrupted", n, ErrCircuits)
	}
	return all, nil
}

// restore puts the circuits of all switches back, those of the others also where one does not answer.
func (s *Site) restore(ctx context.Context, standing [][]southbound.CrossConnect) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreWithin)
	defer cancel()
	for i, was := range standing {
		o := &s.OCSes[i]
		if e := o.Device.Set(ctx, &southbound.Change{Replace: true, Connect: was}); e != nil {
			err = errors.Join(err, fmt.Errorf("survey: put %d circuits back at %s: %w", len(was), o.Name, e))
		}
	}
	return err
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
	each := s.split(round)
	for i, own := range each {
		o := &s.OCSes[i]
		if err := o.Device.Set(ctx, &southbound.Change{Replace: true, Connect: own}); err != nil {
			return fmt.Errorf("set %d circuits at %s: %w", len(own), o.Name, err)
		}
	}
	failed, err := s.connected(ctx, each)
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

// split gives each switch its circuits of a round, by its own numbers of ports.
func (s *Site) split(round []southbound.CrossConnect) [][]southbound.CrossConnect {
	each := make([][]southbound.CrossConnect, len(s.OCSes))
	i, first := 0, southbound.Port(0)
	for _, c := range round { // by inputs
		for ; c.In >= first+southbound.Port(s.OCSes[i].Ports); i++ {
			first += southbound.Port(s.OCSes[i].Ports)
		}
		each[i] = append(each[i], southbound.CrossConnect{In: c.In - first, Out: c.Out - first})
	}
	return each
}

// How the survey waits for circuits.
const (
	connectWithin = 10 * time.Second
	connectPoll   = 20 * time.Millisecond
)

// connected waits until every circuit of a round is up, has failed, or is late, and returns those that are not up, by
// the survey's numbers of ports.
func (s *Site) connected(ctx context.Context,
	each [][]southbound.CrossConnect) (missing []southbound.CrossConnect, err error) {
	waited, first := time.Duration(0), southbound.Port(0)
	for i, own := range each {
		for {
			dark, pending, err := s.OCSes[i].lacks(ctx, own)
			if err != nil {
				return nil, err
			}
			if !pending || waited >= connectWithin {
				for _, c := range dark {
					missing = append(missing, southbound.CrossConnect{In: c.In + first, Out: c.Out + first})
				}
				break
			}
			if err := s.Wait(ctx, connectPoll); err != nil {
				return nil, err
			}
			waited += connectPoll
		}
		first += southbound.Port(s.OCSes[i].Ports)
	}
	return missing, nil
}

// lacks returns which circuits are not up, and whether some may still come or are still to go.
func (o *OCS) lacks(ctx context.Context,
	want []southbound.CrossConnect) (dark []southbound.CrossConnect, pending bool, err error) {
	seen, err := o.Device.Read(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read circuits of %s: %w", o.Name, err)
	}
	for _, c := range want {
		i := slices.IndexFunc(seen.Connections,
			func(o southbound.Connection) bool { return o.In == c.In && o.Out == c.Out })
		if i >= 0 && seen.Connections[i].Status == southbound.Connected {
			continue
		}
		dark = append(dark, c)
		pending = pending || i < 0 || seen.Connections[i].Status == southbound.PendingConnection
	}
	// What is to go must be gone, too: light of the last round would be taken for this one's.
	return dark, pending || len(seen.Connections) > len(want), nil
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

func (s *Site) conclude(r *Result, w *audit.Walk) {
	r.Found, _, _ = w.Found()
	r.Rounds, r.Findings = w.Rounds(), audit.Judge(r.Expected, w)
	p := 0
	for i := range s.OCSes {
		for own := range s.OCSes[i].Ports {
			r.Ports = append(r.Ports, Port{s.OCSes[i].Name, own, r.Expected.In[p].String(), r.Found.In[p].String(),
				r.Expected.Out[p].String(), r.Found.Out[p].String()})
			p++
		}
	}
}
