package simulated

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/state"
	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// meter counts on the simulator the bytes that hosts have sent, as the switches of a real fabric would:
// by pair of hosts, at layer 2, since the run began.
type meter struct {
	sim  *flowsim.Sim
	open []southbound.CoflowID // not ended when they were last looked at
	seen southbound.CoflowID   // the first coflow that has not been looked at
	done map[[2]southbound.HostID]pathmap.Bytes
}

func newMeter(sim *flowsim.Sim) *meter {
	return &meter{sim: sim, done: map[[2]southbound.HostID]pathmap.Bytes{}}
}

// read returns all counters as they are now.
func (m *meter) read(s *state.State, now time.Duration) (demand.Sample, error) {
	for d := s.Live(); m.seen < d.Next.Coflow; m.seen++ {
		m.open = append(m.open, m.seen)
	}
	crossbar := s.Fabric().Spec.Kind == topo.Crossbar
	wire := func(b pathmap.Bytes) pathmap.Bytes {
		if crossbar {
			return b
		}
		return controller.Wire(b)
	}
	live := map[[2]southbound.HostID]pathmap.Bytes{}
	m.open = slices.DeleteFunc(m.open, func(id southbound.CoflowID) bool {
		c := s.Coflow(id)
		if c.Started == state.Unset {
			return false
		}
		into, ended := live, c.Ended != state.Unset
		if ended {
			into = m.done
		}
		left, known := m.sim.Host().Remaining(id)
		for row, src := range c.Columns.Src {
			sent := c.Columns.Size[row]
			if !c.Done[row] && !ended {
				sent = 0
				if known {
					sent = c.Columns.Size[row] - pathmap.Bytes(left.Row(int32(row)))
				}
			}
			if sent > 0 {
				into[[2]southbound.HostID{src, c.Columns.Dst[row]}] += wire(sent)
			}
		}
		return ended
	})
	sample := demand.Sample{At: now}
	for pair, b := range m.done { // sorted below
		sample.Counters = append(sample.Counters,
			demand.Counter{Src: pair[0], Dst: pair[1], Bytes: b + live[pair]})
		delete(live, pair)
	}
	for pair, b := range live {
		sample.Counters = append(sample.Counters, demand.Counter{Src: pair[0], Dst: pair[1], Bytes: b})
	}
	slices.SortFunc(sample.Counters, func(a, b demand.Counter) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst))
	})
	return sample, nil
}
