package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// decider is the policy, what it is shown and how often it has been asked.
type decider struct {
	policy  controller.Policy
	view    controller.View
	blind   bool // the policy reads nothing of what coflows have left
	totals  bool // it reads only how much that is together
	brief   bool // it asks for what brief ones leave out
	late    bool // it asks before it reads that
	traffic *demand.Estimator
	meters  meters
	asked   int64
	asks    *state.Asked // of hosts, by the plan in hand
}

// decide calls the policy and turns its plan into entries.
func (l *Loop) decide(s *state.State, now time.Duration, in *Inputs) {
	if s.Live().Wake <= now {
		l.pending.note(controller.WakeReached, now, -1, -1, 0)
	}
	l.refreshView(s, now, in)
	l.decider.asked++
	p, err := l.ask()
	l.cables.changed, l.cables.pairs = nil, nil
	l.pending.events = l.pending.events[:0]
	if err == nil {
		err = l.lawful(l.commit(s, now, p))
	}
	if err != nil {
		// A plan that cannot stand is dropped whole, and its wish to be called again with it.
		l.pass.fail(fmt.Errorf("plan at %v: %w", now, err))
		l.pass.entries = l.pass.entries[:0]
		l.steering.coflows = l.steering.coflows[:0]
		l.pass.add(state.Entry{Kind: state.Planned, At: now, Planning: state.Planning{Wake: southbound.Never}})
		return
	}
	l.pass.act.Rates = overCircuits(l.fabric, p.Share)
}

// ask calls the policy. A panic is an error where it is to be contained.
func (l *Loop) ask() (p *controller.Plan, err error) {
	if asked := l.cfg.Asked; asked != nil {
		asked(true)
		defer asked(false)
	}
	if l.cfg.Contain {
		defer func() {
			if what := recover(); what != nil {
				err = fmt.Errorf("%w: it panics: %v", controller.ErrPolicyFailed, what)
			}
		}()
	}
	return l.decider.policy.Decide(&l.decider.view, l.pending.events), nil
}

// lawful marks the error of a plan that cannot stand as the policy's, unless it had no answer or spoke
// of what is over.
func (l *Loop) lawful(err error) error {
	if err == nil || !l.cfg.Contain || errors.Is(err, controller.ErrUndecided) ||
		errors.Is(err, state.ErrStale) {
		return err
	}
	return fmt.Errorf("%w: it breaks a law: %w", controller.ErrPolicyFailed, err)
}

// refreshView brings the view up to date.
func (l *Loop) refreshView(s *state.State, now time.Duration, in *Inputs) {
	d := &l.decider
	v := &d.view
	v.Changed, v.Touched, v.Links = l.cables.changed, l.cables.pairs, d.meters.links
	v.Now, v.Seed, v.Paths, v.TaskChanges = now, l.cfg.Seed, l.cfg.Paths, s.TaskChanges()
	v.AllTaskChanges, v.Unread = s.AllTaskChanges(), nil
	v.Rest = in.Remaining
	v.Delta, v.ElephantThreshold = s.ReconfigurationDelay(l.cfg.Delta), l.cfg.ElephantThreshold
	v.Deltas = s.ReconfigurationDelays(v.Deltas[:0], l.cfg.Deltas)
	v.Traffic = d.traffic.Traffic(l.fabric.Racks)
	switch {
	case d.blind:
		s.FillBlindView(v)
	case d.totals && in.Total != nil:
		s.FillTotalsView(v, in.Total)
	case d.brief && in.Brief != nil:
		s.FillView(v, in.Brief)
	case d.late:
		s.FillBlindView(v)
		left := in.Remaining // in is not to be on the heap
		v.Unread = func(v *controller.View) { s.FillRemaining(v, left) }
	default:
		s.FillView(v, in.Remaining)
	}
	v.Multihop = l.multihops.shown(v.Multihop[:0])
	l.circuits.failing.hide(v)
}

// commit writes the entries of a plan, in the order of their effect.
func (l *Loop) commit(s *state.State, now time.Duration, p *controller.Plan) error {
	if p.Err != nil {
		return fmt.Errorf("%w: %w", controller.ErrUndecided, p.Err)
	}
	if err := l.commitResizes(s, now, p.Resize); err != nil {
		return err
	}
	behind, err := l.commitPlacements(s, now, p.Place)
	if err != nil {
		return err
	}
	if err := l.commitRoutes(s, now, p); err != nil {
		return err
	}
	if err := l.commitReservations(s, now, p); err != nil {
		return err
	}
	for _, j := range p.Admissions {
		if s.Coflow(j.Coflow) == nil {
			return fmt.Errorf("admit coflow %d: no such coflow", j.Coflow)
		}
		l.pass.add(state.Entry{Kind: state.AdmissionDecided, At: now, Coflow: j.Coflow, OK: j.Admitted})
	}
	wake := p.Wake
	if wake <= now {
		return fmt.Errorf("asks to be called again at %v, which has passed", wake)
	}
	if wake != s.Live().Wake || p.Anneal != (controller.AnnealCounts{}) {
		counts := p.Anneal
		l.pass.add(state.Entry{Kind: state.Planned, At: now,
			Planning: state.Planning{Wake: wake, Anneal: &counts}})
	}
	if err := l.commitMultihop(s, p.Multihop); err != nil {
		return err
	}
	l.leave(behind)
	return nil
}

// commitResizes changes vCPUs of running tasks. Hosts run what is left of their loads as a later try of theirs.
func (l *Loop) commitResizes(s *state.State, now time.Duration, all []controller.Resize) error {
	l.decider.asks.Reset()
	for i := range all {
		r := all[i]
		e := state.Entry{Kind: state.TaskResized, At: now, Planning: state.Planning{Resize: &r}}
		if !s.Admits(&e) {
			return nil // some replica is too old to know it, and tasks keep what they have
		}
		t, takes, err := s.Resized(&r, l.decider.asks, now)
		if err != nil {
			return err
		}
		l.pass.add(e)
		l.pass.act.Run = append(l.pass.act.Run, southbound.Task{Task: r.Task, Host: t.Host, Compute: takes, Try: t.Try,
			MilliVCPUs: t.MilliVCPUs + t.ExtraMilli})
	}
	return nil
}

// commitPlacements returns the rows that begin again elsewhere.
func (l *Loop) commitPlacements(s *state.State, now time.Duration,
	place []controller.Placement) (behind []southbound.HostFlowKey, err error) {
	for i := range place {
		p := &place[i]
		if err := s.CheckPlacement(p, l.decider.asks); err != nil {
			return nil, err
		}
		if j := s.Job(p.Job); j.Placed != state.Unset && !j.Incremental {
			// what a lost host held is laid out again, and has no routes
			l.pending.note(controller.FabricChanged, now, p.Job, -1, 0)
		}
		own := controller.Placement{Job: p.Job, Hosts: slices.Clone(p.Hosts), NonLocal: slices.Clone(p.NonLocal),
			MilliVCPUs:  slices.Clone(p.MilliVCPUs),
			PolicyState: slices.Clone(p.PolicyState), Move: slices.Clone(p.Move)}
		if s.Level() >= state.BlocksLevel || s.Live().Cluster == nil {
			own.ReadFrom = slices.Clone(p.ReadFrom)
		}
		if len(own.ReadFrom) > 0 { // what reads has no routes
			l.pending.note(controller.JobArrived, now, p.Job, -1, 0)
		}
		left := s.LeftBehind(&own)
		own.Resent = l.sentOf(left)
		behind = append(behind, left...)
		l.pass.add(state.Entry{Kind: state.Placed, At: now, Placement: &own})
	}
	return behind, nil
}

func (l *Loop) commitRoutes(s *state.State, now time.Duration, p *controller.Plan) error {
	for i := range p.Route {
		if s.Relays(p.Route[i].Coflow, p.Place) {
			continue // it has no routes once it is laid out again: the policy is then called again
		}
		if err := s.CheckRouting(&p.Route[i], p.Place); err != nil {
			return err
		}
		route := controller.Routing{Coflow: p.Route[i].Coflow, Tags: slices.Clone(p.Route[i].Tags)}
		l.pass.add(state.Entry{Kind: state.Routed, At: now, Routing: &route})
		l.steering.again(route.Coflow)
	}
	return nil
}

func (l *Loop) commitReservations(s *state.State, now time.Duration, p *controller.Plan) error {
	for _, c := range p.Withdraw {
		if c != controller.AnyCoflow && s.Coflow(c) == nil {
			return fmt.Errorf("withdraw reservations of coflow %d: no such coflow", c)
		}
		l.pass.add(state.Entry{Kind: state.Withdrawn, At: now, Coflow: c})
		l.usages.forgetUnbegun(c)
		if s.Holds() { // its rows may have been waiting for what goes
			l.steering.again(c)
		}
	}
	for _, port := range p.Preempt {
		if r, ok := s.Holding(port); ok && !l.ofSlice(s, r.In, r.Out) {
			l.endReservation(s, now, &r, state.Preempted)
		}
	}
	l.pass.reserve = append(l.pass.reserve[:0], p.Reserve...) // the plan is borrowed, the entries are not its
	for i := range l.pass.reserve {
		r := &l.pass.reserve[i]
		if err := s.CheckCircuitReservation(r); err != nil {
			return err
		}
		if l.ofSlice(s, r.In, r.Out) {
			continue
		}
		l.pass.put(state.CircuitReserved, now).CircuitReservation = r
		l.reservations.idle.add(r.In)
		l.noteMade(s, now, r)
		if r.Fallback == controller.Hold {
			l.steering.changed(r)
		}
	}
	return nil
}

// overCircuits gives host flows over any circuit between two cubes of a pod the rate that a policy gives those over a
// circuit: it knows of one. Nothing else changes.
func overCircuits(f *topo.Fabric, r *southbound.Rates) *southbound.Rates {
	if r == nil || !f.Spec.Pod() {
		return r
	}
	tags, out := southbound.CircuitTags(f), *r
	out.Pairs = nil
	for _, p := range r.Pairs {
		if p.Tag == southbound.TagCircuit {
			for _, tag := range tags[1:] {
				out.Pairs = append(out.Pairs, southbound.PairRate{Src: p.Src, Dst: p.Dst, Tag: tag, Rate: p.Rate})
			}
		}
		out.Pairs = append(out.Pairs, p)
	}
	return &out
}
