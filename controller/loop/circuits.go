package loop

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// circuits is the circuits being moved, and those that ToRs steer to.
type circuits struct {
	mover   *rollout.Mover
	steered []bool                    // by OCS input: its ToR possibly holds the circuit's rule
	gone    []southbound.CrossConnect // memory of displaced
	checker rollout.Checker           // of the tables as they are wanted
	failing failures                  // of inputs of the OCS
}

// displaced returns the circuits that ToRs can steer to and that hold one of the ports. Borrowed until
// the next call.
func (c *circuits) displaced(s *state.State, in, out southbound.Port) []southbound.CrossConnect {
	gone := c.gone[:0]
	other := s.Leading(out)
	for _, k := range [2]southbound.Port{min(in, other), max(in, other)} {
		if k == southbound.NoPort || !c.steered[k] || len(gone) > 0 && gone[0].In == k {
			continue
		}
		if at := s.Circuit(k); at.Phase == controller.InService {
			gone = append(gone, southbound.CrossConnect{In: k, Out: at.Out})
			c.steered[k] = false
		}
	}
	c.gone = gone
	return gone
}

// move sends the next steps of the moves in progress and records those that have settled.
func (l *Loop) move(s *state.State, now time.Duration) {
	sets, settled := l.circuits.mover.Next(now)
	l.pass.act.Sets = append(l.pass.act.Sets, sets...)
	for _, d := range l.circuits.mover.NeedsReread() {
		l.pass.read(d)
	}
	for i := range settled {
		m := &settled[i]
		l.circuits.failing.settled(now, l.cfg.Rollout.Retry, m.In, m.OK)
		l.pass.stages = append(l.pass.stages, m.Stages)
		e := l.pass.put(state.CircuitSettled, now)
		e.Port, e.Out, e.OK, e.Stages = m.In, m.Out, m.OK, &l.pass.stages[len(l.pass.stages)-1]
		r, held := l.reservations.holding(s, m.In)
		held = held && r.Out == m.Out
		switch {
		case m.OK:
			l.circuits.steered[m.In] = true
			if l.cfg.Demand.Oracle() && !l.fabric.Spec.Pod() && !l.slicing.rings { // slices see it in the next pass
				l.pass.lit++
			}
			if held {
				l.steerToCircuit(s, &r.CircuitReservation)
				l.noteService(s, now, m.Stages.Connected, &r.CircuitReservation)
				l.pending.note(controller.CircuitInService, now, -1, r.Coflow, 0)
			}
			continue
		case held && !l.reservations.began.has(m.In): // else it is found astray in the next pass
			l.endReservation(s, now, &r, state.Broken)
		}
		l.reservations.astray.add(m.In) // what has come to be in service leads where it did
	}
	if l.cfg.Verify && len(settled) > 0 {
		l.verify(s)
	}
}

// steerToCircuit steers the rows of a reservation to its circuit, which is in service once this pass's
// entries are applied. Where the state may see it otherwise by then, or rows are declared in this very
// pass, the next one steers.
func (l *Loop) steerToCircuit(s *state.State, r *controller.CircuitReservation) {
	if c := s.Circuit(r.In); c.Out != r.Out || c.Phase != controller.Reconfiguring ||
		len(l.pass.act.Start) > 0 || l.fabric.Spec.Pod() { // of a pod, rows are dealt to all circuits in service
		l.steering.changed(r)
		return
	}
	l.steering.pair(s, &l.pass, pairOf{r.Coflow, r.In, r.Out}, true)
}

// verify walks the tables as they are wanted.
func (l *Loop) verify(s *state.State) {
	if err := l.circuits.checker.CheckWanted(l.base, l.wantedCircuits(s)); err != nil {
		l.pass.fail(fmt.Errorf("verify tables: %w", err))
	}
}

// reportedLost notes that an OCS reports a circuit in use as missing or failed.
func (l *Loop) reportedLost(s *state.State, now time.Duration, e *southbound.DeviceEvent) {
	if l.fabric.IsOCS(e.Device) {
		l.lost(s, now, l.portOf(e.Device, e.In), l.portOf(e.Device, e.Out))
	}
}

// portOf returns the number in the fabric of a port that an OCS names.
func (l *Loop) portOf(ocs southbound.DeviceID, p southbound.Port) southbound.Port {
	return southbound.Port(l.fabric.OCSPort(ocs, int32(p)))
}

// lost notes that a circuit in use is missing or has failed.
func (l *Loop) lost(s *state.State, now time.Duration, in, out southbound.Port) {
	if in < 0 || int(in) >= l.fabric.OCSPorts() || !l.giveUp(s, now, in, out) {
		return
	}
	if gone := l.base.CircuitMatches(in, out); len(gone) > 0 {
		l.pass.act.Sets = append(l.pass.act.Sets,
			rollout.Set{Device: l.fabric.ToRNode[l.fabric.OCSRack(int32(in))],
				Token:  l.circuits.mover.Token(),
				Change: southbound.Change{Drop: gone}})
	}
}

// giveUp records that a circuit in use is no longer, with its reservation. It reports false where in
// leads elsewhere, or is recorded as lost already in this very pass.
func (l *Loop) giveUp(s *state.State, now time.Duration, in, out southbound.Port) bool {
	c := s.Circuit(in)
	if c.Phase != controller.InService || c.Out != out || !l.circuits.steered[in] {
		return false
	}
	l.reservations.astray.add(in)
	l.pass.add(state.Entry{Kind: state.CircuitSettled, At: now, Port: in, Out: out})
	if r, ok := s.Holding(in); ok {
		l.endReservation(s, now, &r, state.Broken)
	}
	l.circuits.steered[in] = false
	return true
}

// wantedCircuits are the circuits that ToRs should steer to, by input.
func (l *Loop) wantedCircuits(s *state.State) []southbound.Port {
	out := make([]southbound.Port, l.fabric.OCSPorts())
	for in := range out {
		out[in] = southbound.NoPort
		if s.Circuit(southbound.Port(in)).Phase == controller.InService {
			out[in] = s.Circuit(southbound.Port(in)).Out
		}
	}
	return out
}

// seenCircuits passes an OCS's circuits to the mover, gives up expected circuits that are missing, and
// returns the change that removes unwanted ones.
func (l *Loop) seenCircuits(s *state.State, now time.Duration, ocs southbound.DeviceID,
	seen *southbound.Seen) (c southbound.Change) {
	found := make(map[southbound.Port]southbound.Port, len(seen.Connections))
	for _, x := range seen.Connections {
		in, out := l.portOf(ocs, x.In), l.portOf(ocs, x.Out)
		if in < 0 || int(in) >= l.fabric.OCSPorts() {
			continue
		}
		if x.Status == southbound.Connected {
			found[in] = out
		}
		l.circuits.mover.Event(now, southbound.DeviceEvent{Device: ocs, Kind: southbound.ConnectionStatus,
			In: x.In, Out: x.Out, Status: x.Status})
		// Where the input is wanted for another circuit, the move displaces this one; to take it away by
		// itself could come after the move and take that away.
		if want := s.Circuit(in); want.Out == southbound.NoPort && x.Status != southbound.PendingDeletion &&
			!l.circuits.mover.Moving(in, out) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: x.In, Out: x.Out, Off: true})
		}
	}
	for in := range southbound.Port(l.fabric.OCSPorts()) {
		if of, _ := l.fabric.OCSAt(int32(in)); of != ocs {
			continue
		}
		want := s.Circuit(in)
		if out, ok := found[in]; want.Phase == controller.InService && (!ok || out != want.Out) {
			l.lost(s, now, in, want.Out)
		}
	}
	return c
}

// darkPort gives up the circuits over an OCS port whose cable has no light, and removes them: the
// optical switch holds them still, and would hold what nobody knows of once light is back. Their host
// flows are on packets already: the switch that sent them there has seen its light go.
func (l *Loop) darkPort(s *state.State, now time.Duration, p southbound.Port) {
	for in := range l.fabric.OCSPorts() {
		c := s.Circuit(southbound.Port(in))
		if (southbound.Port(in) == p || c.Out == p) && l.giveUp(s, now, southbound.Port(in), c.Out) {
			l.circuits.mover.Remove(southbound.Port(in), c.Out)
		}
	}
}

// portDown reports whether the cable of an OCS port has no light.
func (l *Loop) portDown(s *state.State, p southbound.Port) bool {
	d, port := l.fabric.OCSAt(int32(p))
	at := state.PortRef{Device: d, Port: southbound.Port(port)}
	return slices.Contains(s.Live().Down, at) || slices.Contains(s.DrainedPorts(), at)
}

// dropUnused removes the circuits without a reservation where untagged packets follow circuits: they
// would go on using such a circuit. Where host flows are steered one by one, an unused circuit does no
// harm, and stays, unless its switch is drained: it and its cables are taken away once they are dark.
func (l *Loop) dropUnused(s *state.State, now time.Duration) {
	drained, follow := s.Change().Drained, !l.cfg.Demand.Oracle() || l.fabric.Spec.Pod()
	if !follow && !slices.ContainsFunc(drained, l.fabric.IsOCS) {
		return
	}
	for in := range southbound.Port(l.fabric.OCSPorts()) {
		if !l.circuits.steered[in] || s.Circuit(in).Phase != controller.InService {
			continue
		}
		if ocs, _ := l.fabric.OCSAt(int32(in)); !follow && !slices.Contains(drained, ocs) {
			continue
		}
		_, held := s.Holding(in)
		begins := l.pass.has(func(e *state.Entry) bool { return e.Kind == state.CircuitReservationBegun && e.Port == in })
		if held || begins {
			continue
		}
		l.unused(now, in, s.Circuit(in).Out)
	}
}

// unused takes a circuit away that is in service, and that nothing holds.
func (l *Loop) unused(now time.Duration, in, out southbound.Port) {
	l.reservations.astray.add(in)
	l.pass.add(state.Entry{Kind: state.CircuitDropped, At: now, Port: in, Out: out})
	l.circuits.steered[in] = false
	l.circuits.mover.Remove(in, out)
}
