package loop

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// readTraffic makes a new estimate where one is due, and says whether the policy is to be asked about it. Estimates are
// not logged: a new leadership knows them again after two readings.
func (l *Loop) readTraffic(s *state.State, now time.Duration, in *Inputs) {
	if due, reads := l.traffic.Due(); !reads || now < due {
		return
	}
	l.look(s, now, in)
	any, err := l.traffic.Read(&l.view, func() (demand.Sample, error) {
		if in.Counters == nil {
			return demand.Sample{}, errNoCounters
		}
		return in.Counters()
	})
	if err != nil {
		l.act.Errs = append(l.act.Errs, fmt.Errorf("read traffic: %w", err))
	}
	if any {
		l.note(controller.TrafficRead, now, -1, -1, 0)
	}
}

// nextReading is when traffic is to be read next.
func (l *Loop) nextReading() time.Duration {
	if due, reads := l.traffic.Due(); reads {
		return due
	}
	return southbound.Never
}

// dropUnused takes away the circuits that no reservation holds, where packets without a tag follow circuits: else these
// would go on over one that is nobody's. Where bundles are steered one by one, light does no harm, and stays.
func (l *Loop) dropUnused(s *state.State, now time.Duration) {
	if l.cfg.Demand.Oracle() {
		return
	}
	for in := range southbound.Port(l.fabric.OCSPorts()) {
		if !l.steered[in] || s.Circuit(in).Phase != controller.Usable {
			continue
		}
		_, held := s.Holding(in)
		begins := slices.ContainsFunc(l.entries, func(e state.Entry) bool { return e.Kind == state.ReservationBegun && e.Port == in })
		if held || begins {
			continue
		}
		out := s.Circuit(in).Out
		l.astray.add(in)
		l.add(state.Entry{Kind: state.CircuitDropped, At: now, Port: in, Out: out})
		l.steered[in] = false
		l.mover.Remove(in, out)
	}
}
