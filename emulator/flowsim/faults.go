package flowsim

import (
	"fmt"
	"time"

	"lightloom/southbound"
)

// Power takes a switch's power away, or gives it back: then it boots, cold, for so long. Its cables are
// Cable's to cut.
func (s *Sim) Power(id southbound.DeviceID, on bool, boot time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.board(id)
	w.dev.Power(s.clock.Now(), on, boot)
	w.plan()
}

// Fail makes a host fail, or come back: its tasks and the host flows from it and to it are void, and an
// event reports this. A failed host runs no tasks and sends nothing. A repeated call has no effect.
func (s *Sim) Fail(h southbound.HostID, up bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.addresses().CheckHost(h); err != nil {
		return fmt.Errorf("fail host: %w", err)
	}
	if s.lost == nil {
		s.lost = make([]bool, s.fabric.Hosts())
	}
	if s.lost[h] == !up {
		return nil
	}
	s.lost[h] = !up
	e := southbound.Event{At: s.clock.Now(), Kind: southbound.HostFound, Host: h}
	if !up {
		e.Kind = southbound.HostLost
		for id, r := range s.tasks {
			if r.host == h {
				s.forget(id) // each by itself: the order does not show
			}
		}
		s.fluid.voidAt(h)
	}
	s.fluid.events = append(s.fluid.events, e)
	return nil
}

func (s *Sim) isLost(h southbound.HostID) bool { return s.lost != nil && s.lost[h] }

// tried is the last try of a task that a host knows.
type tried struct {
	host  southbound.HostID
	try   int32
	index int32 // in running; none once it has ended or is void
}

// forget ends a task without an event.
func (s *Sim) forget(id southbound.TaskID) {
	t := s.tasks[id]
	if t.index == none {
		return
	}
	s.running[t.index].Task = voidTask // its end is due all the same, and says nothing
	t.index = none
	s.tasks[id] = t
}

// voidTask is the id of a task that is void.
const voidTask southbound.TaskID = -1

// voidAt ends the host flows from a host and to it.
func (f *fluid) voidAt(h southbound.HostID) {
	if f.relay != nil {
		f.relay.forsake(h)
	}
	for i := len(f.live) - 1; i >= 0; i-- { // the last may leave the list
		co := &f.coflows[f.live[i]]
		if co.leg != 0 {
			continue // a host stands for its rack there
		}
		for b := co.first; b < co.end; b++ {
			if r := &f.routes[f.hostFlows[b].route]; f.hostFlows[b].class != gone && (r.src == h || r.dst == h) {
				f.void(b)
			}
		}
	}
	f.disturb()
}

// voidLost ends the host flows of a new coflow that a lost host would take part in.
func (s *Sim) voidLost(st *southbound.Start) {
	if s.lost == nil {
		return
	}
	i, _ := s.fluid.byID.Find(st.Coflow)
	for r := range st.Src {
		if s.lost[st.Src[r]] || s.lost[st.Dst[r]] {
			s.fluid.void(s.fluid.coflows[i].first + int32(r))
		}
	}
}

// void ends a host flow without a word. What has been received of it stays counted.
func (f *fluid) void(b int32) {
	f.account(b)
	f.pull(b)
	bu := &f.hostFlows[b]
	bu.class, f.coflows[bu.coflow].steady = gone, 0
	f.exit(bu.route)
	f.lessLive(b)
}
