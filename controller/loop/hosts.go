package loop

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// host takes up that a host has failed or is back.
func (l *Loop) host(s *state.State, now time.Duration, e *southbound.Event) {
	up := e.Kind == southbound.HostFound
	switch {
	case e.Host < 0 || int(e.Host) >= l.fabric.Hosts():
		l.act.Errs = append(l.act.Errs, fmt.Errorf("host %d is reported to be up: %v: no such host", e.Host, up))
		return
	case l.hostUp(s, e.Host) == up:
		return
	}
	l.add(state.Entry{Kind: state.HostSeen, At: now, Host: e.Host, OK: up})
	l.note(controller.FabricChanged, now, -1, -1, 0)
	if up {
		l.freed = true
		return
	}
	for _, id := range s.Active() {
		if c := s.Coflow(id); c.Started != state.Unset {
			l.abandon(id, c, e.Host)
		}
	}
}

// hostUp says whether a host is up once the entries of this pass have been applied: one may go and come within it.
func (l *Loop) hostUp(s *state.State, h southbound.HostID) bool {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if e := &l.entries[i]; e.Kind == state.HostSeen && e.Host == h {
			return e.OK
		}
	}
	return !s.Lost(h)
}

// portUp says the same of a port.
func (l *Loop) portUp(s *state.State, p state.PortRef) bool {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if e := &l.entries[i]; e.Kind == state.PortSeen && e.Device == p.Device && e.Port == p.Port {
			return e.OK
		}
	}
	return !slices.Contains(s.Live().Down, p)
}

// abandon has the bundles of a coflow that a lost host took part in send nothing any more: its agent may have come back
// before it heard of them.
func (l *Loop) abandon(id southbound.CoflowID, c *state.Coflow, h southbound.HostID) {
	touched := false
	for row, done := range c.Done {
		if done || c.Columns.Src[row] != h && c.Columns.Dst[row] != h {
			continue
		}
		touched = true
		l.act.Steer = append(l.act.Steer, southbound.Steer{BundleKey: southbound.BundleKey{Coflow: id, Row: int32(row)}, Tag: southbound.TagHold})
	}
	if touched {
		l.idle.fill()
		l.touched = append(l.touched, id)
	}
}

// darkPort gives up the circuits over an OCS port whose cable has no light. Their bundles are on packets already: the
// switch that sent them there has seen its light go.
func (l *Loop) darkPort(s *state.State, now time.Duration, p southbound.Port) {
	for in := range l.fabric.OCSPorts() {
		c := s.Circuit(southbound.Port(in))
		if c.Phase == controller.Usable && (southbound.Port(in) == p || c.Out == p) {
			l.lost(s, now, southbound.DeviceEvent{Device: l.fabric.OCSNode, In: southbound.Port(in), Out: c.Out, Status: southbound.Disconnected})
		}
	}
}

// portDown says whether the cable of an OCS port has no light.
func (l *Loop) portDown(s *state.State, p southbound.Port) bool {
	return slices.Contains(s.Live().Down, state.PortRef{Device: l.fabric.OCSNode, Port: p})
}
