package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/circuit"
	"lightloom/southbound/hint"
)

// Desk wires testbeds for somebody, under the leases of a file: what stands behind every way to ask for it.
type Desk struct {
	Leases string // file; its audit log is beside it
	User   string // who does it, for the audit log
	Holder string // who holds the lease
	Life   time.Duration
	Keep   bool // a lease that stands keeps its end, whatever Life says
	Queue  bool // where ports are leased to others, wait for them
	Now    func() time.Time
	Options
}

// Done is what has been done to a testbed, or would be.
type Done struct {
	Steps    []Step
	Strays   []Stray // that were in the way
	Kept     int     // circuits that stand already; of a plan
	Findings []Finding
	Until    *time.Time // the end of the lease
}

// lease is what the testbed has or would get: the ports of its links, and those that it has already.
func (k *Desk) lease(b *circuit.LeaseTable, w *Wiring, device string, now time.Time) circuit.Lease {
	l := w.Lease(device, k.Holder)
	l.Until = now.Add(k.Life).UTC().Truncate(time.Second)
	if old := b.Of(device, w.Testbed); old != nil { // it may have ended: its ports are free then
		l.Inputs, l.Outputs = slices.Concat(l.Inputs, old.Inputs), slices.Concat(l.Outputs, old.Outputs)
		if k.Keep && now.Before(old.Until) {
			l.Until = old.Until
		}
	}
	for _, ports := range []*[]southbound.Port{&l.Inputs, &l.Outputs} {
		slices.Sort(*ports)
		*ports = slices.Compact(*ports)
	}
	return l
}

// Plan returns what Apply would do. It takes no lease. With ErrForeign it returns what is in the way, too.
func (k *Desk) Plan(ctx context.Context, w *Wiring, d southbound.Device, device string) (*Done, error) {
	b, err := circuit.ReadLeases(k.Leases)
	if err != nil {
		return nil, err
	}
	now := k.Now()
	l := k.lease(b, w, device, now)
	if err := b.Take(l, now); err != nil {
		return nil, err
	}
	p, err := w.Plan(ctx, d, l, k.Options)
	if p == nil || err != nil && !errors.Is(err, ErrForeign) {
		return nil, err
	}
	return &Done{Steps: p.Steps, Strays: p.Strays, Kept: p.Kept}, k.foreign(err, w, b, device, p.Strays)
}

// Apply leases the ports of links, makes the links stand, and gives up ports that they have left. What it has done it
// returns also with an error.
func (k *Desk) Apply(ctx context.Context, w *Wiring, d southbound.Device, device string) (*Done, error) {
	l, err := k.take(w, device)
	if err != nil {
		return nil, err
	}
	r, err := w.Apply(ctx, d, l, k.Options)
	done := &Done{Steps: r.Steps, Strays: r.Removed, Findings: r.Findings, Until: &l.Until}
	err = errors.Join(err, k.audit(w, device, r))
	b, berr := circuit.ReadLeases(k.Leases)
	if err = errors.Join(err, berr); err != nil {
		return done, k.foreign(err, w, b, device, r.Removed)
	}
	if len(r.Findings) > 0 {
		return done, nil
	}
	return done, k.shrink(w, device, l)
}

// audit notes which circuits were changed.
func (k *Desk) audit(w *Wiring, device string, r *Result) error {
	if len(r.Steps) == 0 {
		return nil
	}
	var words []string
	for _, s := range r.Removed {
		words = append(words, "removed "+w.Describe(s))
	}
	for _, s := range r.Steps {
		words = append(words, string(s.Action)+" "+circuit.PairsText(s.Change.Connect))
	}
	return circuit.Audit(k.Leases, circuit.AuditEvent{At: k.Now().UTC().Truncate(time.Second), User: k.User, What: "wire",
		Device: device, Group: w.Testbed, Detail: strings.Join(words, "; ")})
}

// take takes or renews the lease, or waits for it in the queue.
func (k *Desk) take(w *Wiring, device string) (l circuit.Lease, err error) {
	now := k.Now()
	var refused error
	before := 0
	err = circuit.ChangeLeases(k.Leases, k.User, now, func(b *circuit.LeaseTable) error {
		l = k.lease(b, w, device, now)
		b.Expire(now)
		err := b.Take(l, now)
		if k.Queue && errors.Is(err, circuit.ErrLeased) {
			refused = err
			before, err = b.Wait(l, now)
		}
		return err
	})
	switch {
	case err == nil && refused != nil:
		err = hint.Wrap(fmt.Errorf("%w; %q waits for it, behind %d others", refused, w.Testbed, before),
			"run the command again once it is free")
	case errors.Is(err, circuit.ErrLeased):
		err = hint.Wrap(err, "add --queue to be the next")
	}
	return l, err
}

// shrink gives up the ports that the testbed's links have left.
func (k *Desk) shrink(w *Wiring, device string, l circuit.Lease) error {
	need := w.Lease(device, k.Holder)
	var left []southbound.Port
	for _, p := range l.Inputs {
		if !need.Input(p) {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return nil
	}
	now := k.Now()
	return circuit.ChangeLeases(k.Leases, k.User, now, func(b *circuit.LeaseTable) error {
		return b.Drop(device, w.Testbed, k.Holder, left, now)
	})
}

// Release removes the circuits of a testbed, and ends its lease; with dry it says what it would remove. It returns nil
// where there is no lease.
func (k *Desk) Release(ctx context.Context, testbed string, d southbound.Device, device string,
	dry bool) (*Done, error) {
	b, err := circuit.ReadLeases(k.Leases)
	if err != nil {
		return nil, err
	}
	w := &Wiring{Testbed: testbed}
	l := b.Of(device, testbed) // it may have ended: its ports are free then
	if l == nil {
		return nil, nil
	}
	if l.Holder != k.Holder {
		return nil, b.Release(device, testbed, k.Holder) // of what was read only: it says why not
	}
	if dry {
		p, err := w.Plan(ctx, d, *l, k.Options)
		if err != nil {
			return nil, err
		}
		return &Done{Steps: p.Steps, Strays: p.Strays}, nil
	}
	r, err := w.Apply(ctx, d, *l, k.Options)
	if err != nil {
		return nil, err
	}
	p, err := w.Plan(ctx, d, *l, k.Options)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Strays {
		err = errors.Join(err, fmt.Errorf("release testbed %q: circuit %s is still there", testbed, w.Describe(s)))
	}
	if err != nil {
		return nil, err
	}
	err = circuit.ChangeLeases(k.Leases, k.User, k.Now(), func(b *circuit.LeaseTable) error {
		return b.Release(device, testbed, k.Holder)
	})
	return &Done{Steps: r.Steps, Strays: r.Removed}, errors.Join(k.audit(w, device, r), err)
}

// foreign adds to an error of planning which circuits are in the way, and whose ports they have.
func (k *Desk) foreign(err error, w *Wiring, b *circuit.LeaseTable, device string, all []Stray) error {
	if b == nil || !errors.Is(err, ErrForeign) {
		return err
	}
	var words []string
	for _, s := range all {
		if s.Own {
			continue
		}
		text := w.Describe(s)
		for _, l := range b.Leases {
			if l.Device == device && l.Group != w.Testbed && (l.Input(s.In) || l.Output(s.Out)) {
				text += fmt.Sprintf(", of %q, which %s has until %s", l.Group, l.Holder, l.Until.Format(time.RFC3339))
			}
		}
		words = append(words, text)
	}
	return hint.Wrap(fmt.Errorf("%w: %s", err, strings.Join(words, "; ")),
		"--take-over removes them; ask whose they are before")
}

// Unwired is the error of findings; nil where there are none.
func (w *Wiring) Unwired(what string, findings []Finding) error {
	links := map[string]bool{}
	for _, f := range findings {
		links[f.Link] = true
	}
	if len(links) == 0 {
		return nil
	}
	n := "1 link"
	if len(w.Links) != 1 {
		n = fmt.Sprintf("%d links", len(w.Links))
	}
	return fmt.Errorf("%s: %d of %s not wired", what, len(links), n)
}
