package loop

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// pass is what one Step makes: the entries to commit and the actions to take once they are applied. The
// memory is kept from one Step to the next.
type pass struct {
	entries []state.Entry
	act     Actions
	stages  []state.Stages                  // that entries point to
	reserve []controller.CircuitReservation // likewise
	// entries after which nothing is due that was not before
	lit  int
	down []southbound.HostID                                    // hosts that go down in this pass
	left func(southbound.CoflowID) (southbound.Remaining, bool) // of the Step's inputs
}

// reset begins a pass.
func (p *pass) reset(in *Inputs) {
	a := &p.act
	p.act = Actions{Start: a.Start[:0], Steer: a.Steer[:0], Run: a.Run[:0], Sets: a.Sets[:0],
		Reads: a.Reads[:0]}
	p.entries, p.stages, p.lit, p.left = p.entries[:0], p.stages[:0], 0, in.Remaining
	p.down = p.down[:0]
}

func (p *pass) add(e state.Entry) { *p.put(e.Kind, e.At) = e }

// put adds an entry that is to be filled in where it is: there are millions of some kinds. It is good
// until the next one.
func (p *pass) put(k state.Kind, at time.Duration) *state.Entry {
	n := len(p.entries)
	p.entries = slices.Grow(p.entries, 1)[:n+1]
	e := &p.entries[n]
	*e = state.Entry{Kind: k, At: at}
	return e
}

// fail reports an error, which stops nothing else.
func (p *pass) fail(err error) { p.act.Errs = append(p.act.Errs, err) }

// read has a device read.
func (p *pass) read(d southbound.DeviceID) { p.act.Reads = append(p.act.Reads, d) }

// steer sends a row of a coflow over another path.
func (p *pass) steer(id southbound.CoflowID, row int32, t southbound.Tag) {
	p.act.Steer = append(p.act.Steer, southbound.Steer{HostFlowKey: southbound.HostFlowKey{Coflow: id,
		Row: row}, Tag: t})
}

// has reports whether an entry of this pass fits.
func (p *pass) has(fits func(*state.Entry) bool) bool {
	for i := range p.entries {
		if fits(&p.entries[i]) {
			return true
		}
	}
	return false
}

// hostUp reports whether a host is up once the entries of this pass have been applied: a host can go
// down and up within a pass.
func (p *pass) hostUp(s *state.State, h southbound.HostID) bool {
	for i := len(p.entries) - 1; i >= 0; i-- {
		if e := &p.entries[i]; e.Kind == state.HostSeen && e.Host == h {
			return e.OK
		}
	}
	return !s.Lost(h)
}

// hostLost reports whether a host goes down in this pass, though it can be up again at its end.
func (p *pass) hostLost(h southbound.HostID) bool {
	return slices.Contains(p.down, h)
}

// portUp is hostUp for a port.
func (p *pass) portUp(s *state.State, port state.PortRef) bool {
	for i := len(p.entries) - 1; i >= 0; i-- {
		if e := &p.entries[i]; e.Kind == state.PortSeen && e.Device == port.Device && e.Port == port.Port {
			return e.OK
		}
	}
	return !slices.Contains(s.Live().Down, port)
}

// downPorts are the ports that are down once the entries of this pass have been applied. The result is
// the state's own where the pass has heard of none.
func (p *pass) downPorts(s *state.State) []state.PortRef {
	down, own := s.Live().Down, false
	for i := range p.entries {
		e := &p.entries[i]
		if e.Kind != state.PortSeen {
			continue
		}
		if !own {
			down, own = slices.Clone(down), true
		}
		port := state.PortRef{Device: e.Device, Port: e.Port}
		at := slices.Index(down, port)
		switch {
		case e.OK && at >= 0:
			down = slices.Delete(down, at, at+1)
		case !e.OK && at < 0:
			down = append(down, port)
		}
	}
	if drained := s.DrainedPorts(); len(drained) > 0 {
		down = slices.Concat(down, drained)
	}
	return down
}
