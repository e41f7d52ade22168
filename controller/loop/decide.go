package loop

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// decide asks the policy and turns its plan into entries.
func (l *Loop) decide(s *state.State, now time.Duration, in *Inputs) {
	if s.Live().Wake <= now {
		l.note(controller.WakeReached, now, -1, -1, 0)
	}
	l.look(s, now, in)
	l.asked++
	p := l.cfg.Policy.Decide(&l.view, l.pending)
	l.changed, l.pairs = nil, nil
	l.pending = l.pending[:0]
	if err := l.commit(s, now, p); err != nil {
		// A plan that cannot stand is dropped whole, and its wish to be called again with it.
		l.act.Errs = append(l.act.Errs, fmt.Errorf("plan at %v: %w", now, err))
		l.entries = l.entries[:0]
		l.resteer = l.resteer[:0]
		l.add(state.Entry{Kind: state.Planned, At: now, Wake: southbound.Never})
		return
	}
	l.act.Rates = p.Share
}

// look brings the view up to date.
func (l *Loop) look(s *state.State, now time.Duration, in *Inputs) {
	v := &l.view
	v.Changed, v.Touched, v.Links = l.changed, l.pairs, l.meters.links
	v.Now, v.Seed, v.Paths = now, l.cfg.Seed, l.cfg.Paths
	v.Delta, v.Elephants = s.Outage(l.cfg.Delta), l.cfg.Elephants
	v.Traffic = l.traffic.Traffic(l.fabric.Racks)
	if l.blind {
		s.FillBlindView(v)
		return
	}
	s.FillView(v, in.Left)
}

// commit writes the entries of a plan, in the order of their effect.
func (l *Loop) commit(s *state.State, now time.Duration, p *controller.Plan) error {
	clear(l.held)
	var behind []southbound.BundleKey
	for i := range p.Place {
		if err := s.CheckPlacement(&p.Place[i], l.held); err != nil {
			return err
		}
		if j := s.Live().Jobs[p.Place[i].Job]; j.Placed != state.Unset && !j.Piecemeal {
			l.note(controller.FabricChanged, now, p.Place[i].Job, -1, 0) // what was lost with a host is laid out anew, and has no routes
		}
		place := controller.Placement{Job: p.Place[i].Job, Hosts: slices.Clone(p.Place[i].Hosts), Far: slices.Clone(p.Place[i].Far), Memo: slices.Clone(p.Place[i].Memo),
			Move: slices.Clone(p.Place[i].Move)}
		left := s.LeftBehind(&place)
		place.Again = l.sentOf(left)
		behind = append(behind, left...)
		l.add(state.Entry{Kind: state.Placed, At: now, Placement: &place})
	}
	for i := range p.Route {
		if s.Relays(p.Route[i].Coflow, p.Place) {
			continue // it has no routes once it is laid out anew: the policy is asked again
		}
		if err := s.CheckRouting(&p.Route[i], p.Place); err != nil {
			return err
		}
		route := controller.Routing{Coflow: p.Route[i].Coflow, Tags: slices.Clone(p.Route[i].Tags)}
		l.add(state.Entry{Kind: state.Routed, At: now, Routing: &route})
		l.resteer = append(l.resteer, route.Coflow)
	}
	for _, c := range p.Withdraw {
		if c != controller.AnyCoflow && (c < 0 || int(c) >= len(s.Live().Coflows)) {
			return fmt.Errorf("withdraw reservations of coflow %d: no such coflow", c)
		}
		l.add(state.Entry{Kind: state.Withdrawn, At: now, Coflow: c})
		if s.Holds() { // its rows may have been waiting for what goes
			l.resteer = append(l.resteer, c)
		}
	}
	for _, port := range p.Preempt {
		if r, ok := s.Holding(port); ok {
			l.endReservation(now, &r, state.Preempted)
		}
	}
	l.reserve = append(l.reserve[:0], p.Reserve...) // the plan is borrowed, the entries are not its
	for i := range l.reserve {
		r := &l.reserve[i]
		if err := s.CheckReservation(r); err != nil {
			return err
		}
		l.put(state.Reserved, now).Reservation = r
		l.idle.add(r.In)
		if r.Meanwhile == controller.Hold {
			l.resteerPair(r)
		}
	}
	for _, j := range p.Judge {
		if j.Coflow < 0 || int(j.Coflow) >= len(s.Live().Coflows) {
			return fmt.Errorf("judge coflow %d: no such coflow", j.Coflow)
		}
		l.add(state.Entry{Kind: state.CoflowJudged, At: now, Coflow: j.Coflow, OK: j.Admitted})
	}
	wake := p.Wake
	if wake <= now {
		return fmt.Errorf("asks to be called again at %v, which has passed", wake)
	}
	if counts := p.Anneal; wake != s.Live().Wake || counts != (controller.AnnealCounts{}) {
		l.add(state.Entry{Kind: state.Planned, At: now, Wake: wake, Anneal: &counts})
	}
	l.leave(behind)
	return nil
}

// endReservation ends the first reservation of an input, once in a pass: a second end would be taken for the next one's.
func (l *Loop) endReservation(now time.Duration, r *state.Reservation, why state.Cause) {
	if l.ended.has(r.In) {
		return
	}
	l.ended.add(r.In)
	e := l.put(state.ReservationEnded, now)
	e.Port, e.Cause = r.In, why
	l.idle.add(r.In)
	if why != state.Delivered { // else nothing is left that could be steered
		l.resteerPair(&r.Reservation)
	}
	if why != state.Preempted {
		l.note(controller.ReservationEnded, now, -1, r.Coflow, 0)
	}
	if why == state.RanOut && !r.Partly || why == state.Broken || why == state.Delivered && r.NotAfter-now > l.cfg.Delta {
		l.note(controller.PortsFreed, now, -1, r.Coflow, 0) // what a plan did not reckon with
	}
}

// transitions does what is due: reservations end and begin, stages and coflows start, moves go on.
func (l *Loop) transitions(s *state.State, now time.Duration) {
	dead := s.Dead(now)
	if l.endDue(s, now) && (len(dead) > 0 || !l.goesOn(s, now)) {
		return
	}
	if len(dead) > 0 {
		for _, id := range dead {
			l.cancel(s, now, id, true)
		}
		return
	}
	l.beginDue(s, now)
	l.expire(s, now)
	l.dropUnused(s, now)
	for _, st := range sorted(s.ReadyStages(), func(a, b state.StageRef) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Stage, b.Stage)) }) {
		l.add(state.Entry{Kind: state.StageStarted, At: now, JobID: st.Job, Stage: st.Stage})
		if s.Held(st.Job, st.Stage) {
			continue // its tasks do nothing but send and receive
		}
		j := s.Job(st.Job)
		first, end := j.StageTasks(int(st.Stage))
		for i := first; i < end; i++ {
			if id := j.FirstTask + southbound.TaskID(i); s.Live().Tasks[id].MayStart() {
				l.run(s, id)
			}
		}
	}
	for _, id := range sorted(s.ReadyCoflows(), cmp.Compare[southbound.CoflowID]) {
		l.add(state.Entry{Kind: state.CoflowStarted, At: now, Coflow: id})
		l.note(controller.CoflowStarted, now, s.Coflow(id).Job, id, 0)
		l.start(s, id)
		if s.Coflow(id).Left == 0 || len(s.Live().Lost) > 0 { // it may end at once
			l.touched = append(l.touched, id)
		}
	}
	l.move(s, now)
}

func sorted[T any](in []T, by func(a, b T) int) []T {
	if len(in) == 0 {
		return nil // as nearly always
	}
	out := slices.Clone(in)
	slices.SortFunc(out, by)
	return out
}

// endDue ends begun reservations that are over and skips unbegun ones that have nothing to carry.
func (l *Loop) endDue(s *state.State, now time.Duration) bool {
	// One input may have several that are over; each pass ends the first, and the question stays open for it.
	l.idle, l.asking = l.asking, l.idle
	l.idle.clear()
	l.astray, l.looking = l.looking, l.astray
	l.astray.clear()
	if l.findDue(s, now); !l.looking.any && !l.asking.any && !l.due.any {
		return false
	}
	n := l.fabric.OCSPorts()
	for w := 0; 64*w < n; w++ {
		for may := l.looking.word(w) | l.asking.word(w) | l.due.word(w); may != 0; may &= may - 1 {
			k := 64*w + bits.TrailingZeros64(may)
			if k >= n {
				break
			}
			l.endFirst(s, now, southbound.Port(k))
		}
	}
	return len(l.entries) > 0
}

// findDue lists the inputs whose first reservation is to begin or end by now.
func (l *Loop) findDue(s *state.State, now time.Duration) {
	if l.due.clear(); s.Edge() <= now {
		s.Due(now, l.due.addBits)
	}
}

// goesOn says whether what begins next may begin in the pass in which reservations end: nobody is to be asked or told before,
// and nothing else ends once these are gone, so that the next pass would do no more than begin.
func (l *Loop) goesOn(s *state.State, now time.Duration) bool {
	if len(l.pending)+len(l.repaths) > 0 || !l.cfg.Demand.Oracle() {
		return false
	}
	for w, word := range l.ended.some {
		for ; word != 0; word &= word - 1 {
			r := s.Second(southbound.Port(64*w + bits.TrailingZeros64(word)))
			if r != nil && (now >= r.NotAfter || s.Idle(&r.Reservation)) {
				return false
			}
		}
	}
	l.idle.clear() // it has just been asked
	return true
}

// endFirst ends the first reservation of an input if it is over.
func (l *Loop) endFirst(s *state.State, now time.Duration, in southbound.Port) {
	r := s.First(in)
	switch {
	case r == nil:
	case l.asking.has(in) && s.Idle(&r.Reservation):
		l.endReservation(now, r, state.Delivered)
	case r.Begun && s.Leads(in) != r.Out: // its move failed in the very pass in which it began
		l.endReservation(now, r, state.Broken)
	case now >= r.NotAfter:
		l.endReservation(now, r, state.RanOut)
	}
}

// beginDue begins the reservations whose time has come and whose ports no other one holds, and intends their circuits.
func (l *Loop) beginDue(s *state.State, now time.Duration) {
	l.outs = l.outs[:0]
	for w := range max(len(l.due.some), len(l.ended.some)) {
		for may := l.due.word(w) | l.ended.word(w); may != 0; may &= may - 1 {
			if r := l.comes(s, southbound.Port(64*w+bits.TrailingZeros64(may)), now); r != nil {
				l.beginOne(s, now, r)
			}
		}
	}
	for _, out := range l.outs {
		l.taken[out] = false
	}
}

// comes returns the reservation of an input that is to begin: the first, or the one after it where that ends in this pass.
// nil: none is.
func (l *Loop) comes(s *state.State, in southbound.Port, now time.Duration) *state.Reservation {
	r := s.First(in)
	if l.ended.has(in) {
		r = s.Second(in)
	}
	if r == nil || r.Begun || r.NotBefore > now {
		return nil
	}
	return r
}

// beginOne begins a reservation, unless another one holds its output.
func (l *Loop) beginOne(s *state.State, now time.Duration, r *state.Reservation) {
	if by := s.Taker(r.Out); l.taken[r.Out] || by != southbound.NoPort && !l.ended.has(by) {
		return
	}
	if l.portDown(s, r.In) || l.portDown(s, r.Out) {
		l.endReservation(now, r, state.Broken) // its circuit would carry no light
		return
	}
	l.taken[r.Out] = true
	l.outs = append(l.outs, r.Out)
	l.began.add(r.In)
	l.astray.add(r.In)
	l.put(state.ReservationBegun, now).Port = r.In
	c := s.Circuit(r.In)
	if c.Out == r.Out && c.Phase == controller.Usable { // else they are steered once it is
		l.resteerPair(&r.Reservation)
	}
	if c.Out != r.Out || c.Phase == controller.NoCircuit {
		if other := s.Leading(r.Out); other != southbound.NoPort { // it goes dark
			l.astray.add(other)
		}
		e := l.put(state.CircuitIntended, now)
		e.Port, e.Out, e.Coflow = r.In, r.Out, r.Coflow
		l.mover.Begin(now, r.In, r.Out, l.displaced(s, r.In, r.Out))
	}
}

// holding returns the reservation that will hold an input once this pass's entries are applied, if there is one.
func (l *Loop) holding(s *state.State, in southbound.Port) (r state.Reservation, held bool) {
	switch {
	case l.began.has(in) && l.ended.has(in):
		return *s.Second(in), true
	case l.began.has(in):
		return *s.First(in), true
	case l.ended.has(in):
		return r, false
	}
	return s.Holding(in)
}

// displaced returns the circuits that ToRs may steer to and that hold one of the ports. Borrowed until the next call.
func (l *Loop) displaced(s *state.State, in, out southbound.Port) []southbound.CrossConnect {
	gone := l.gone[:0]
	other := s.Leading(out)
	for _, k := range [2]southbound.Port{min(in, other), max(in, other)} {
		if k == southbound.NoPort || !l.steered[k] || len(gone) > 0 && gone[0].In == k {
			continue
		}
		if c := s.Circuit(k); c.Phase == controller.Usable {
			gone = append(gone, southbound.CrossConnect{In: k, Out: c.Out})
			l.steered[k] = false
		}
	}
	l.gone = gone
	return gone
}

// move sends the next steps of the moves in progress and records those that have settled.
func (l *Loop) move(s *state.State, now time.Duration) {
	sets, settled := l.mover.Next(now)
	l.act.Sets = append(l.act.Sets, sets...)
	if l.mover.Doubt() {
		l.act.Reads = append(l.act.Reads, l.fabric.OCSNode)
	}
	for i := range settled {
		m := &settled[i]
		l.stages = append(l.stages, m.Stages)
		e := l.put(state.CircuitSettled, now)
		e.Port, e.Out, e.OK, e.Stages = m.In, m.Out, m.OK, &l.stages[len(l.stages)-1]
		r, held := l.holding(s, m.In)
		held = held && r.Out == m.Out
		switch {
		case m.OK:
			l.steered[m.In] = true
			if l.cfg.Demand.Oracle() { // else one that no reservation holds is to go
				l.lit++
			}
			if held {
				l.light(s, &r.Reservation)
				l.note(controller.CircuitUsable, now, -1, r.Coflow, 0)
			}
			continue
		case held && !l.began.has(m.In): // else it is found astray in the next pass
			l.endReservation(now, &r, state.Broken)
		}
		l.astray.add(m.In) // what has come to be usable leads where it did
	}
	if l.cfg.Verify && len(settled) > 0 {
		l.verify(s)
	}
}

// light steers the rows of a reservation to its circuit, which is usable once this pass's entries are applied. Where the
// state may see it otherwise by then, or rows are declared in this very pass, the next one steers.
func (l *Loop) light(s *state.State, r *controller.Reservation) {
	if c := s.Circuit(r.In); c.Out != r.Out || c.Phase != controller.Moving || len(l.act.Start) > 0 {
		l.resteerPair(r)
		return
	}
	l.steerPair(s, pairOf{r.Coflow, r.In, r.Out}, true)
}

// verify walks the tables as they are wanted.
func (l *Loop) verify(s *state.State) {
	f := rollout.Fabric{Fabric: l.fabric, Circuits: l.wantedCircuits(s), Rules: make([][]southbound.Rule, len(l.fabric.Topology.Nodes()))}
	for _, d := range l.base.Devices() {
		if d != l.fabric.OCSNode {
			f.Rules[d] = l.base.Rules(d, f.Circuits)
		}
	}
	if err := rollout.Check(&f); err != nil {
		l.act.Errs = append(l.act.Errs, fmt.Errorf("verify tables: %w", err))
	}
}
