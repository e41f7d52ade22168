package replay

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
)

// processors is what this process, with its children that have ended, and the machine have had of
// processors so far.
type processors struct {
	at           time.Time
	own          float64 // seconds
	busy, waited time.Duration
	err          error // of busy
}

func readProcessors() (p processors) {
	p.at, p.own = time.Now(), report.CPUSeconds()
	p.busy, p.err = report.MachineBusy()
	p.waited, _ = report.MachineWaited() // 0 in a kernel without it
	return p
}

// since returns how many cores this process and others have used since, and for which share of the time
// something has waited for one; known is false if the kernel does not say.
func (p processors) since() (own, stolen, waiting float64, known bool) {
	now := readProcessors()
	wall := now.at.Sub(p.at).Seconds()
	own = (now.own - p.own) / wall
	return own, max(0, (now.busy-p.busy).Seconds()/wall-own), (now.waited - p.waited).Seconds() / wall,
		p.err == nil && now.err == nil
}

// seen fills in what the expected error of a run depends on beside the machine: its coflows, how much
// they were in each other's way, and the moves of circuits.
func (s *runner) seen(h *report.Health, o *outcome.Outcome) {
	h.Moves, h.Coflows, h.MeanCCT, h.Slowdown = len(o.State.Moves), 0, 0, 0
	if all := o.EPS + o.OCS; all > 0 {
		h.PacketShare = float64(o.EPS) / float64(all)
	}
	fastest := s.Spec.EPS // that one host flow between racks can have
	if h.Moves > 0 {
		fastest = max(fastest, s.Spec.OCS)
	}
	took, alone := time.Duration(0), time.Duration(0)
	for _, c := range o.State.Coflows {
		if c.Ended == state.Unset || c.Resent {
			continue
		}
		h.Coflows++
		h.MeanCCT += (c.Ended - c.Ready).Seconds()
		placed := o.State.Job(c.Job)
		if placed == nil {
			continue
		}
		// The state has forgotten what has ended, and jobs that arrive together are accepted in either order.
		at := int(c.Job)
		if at >= len(s.Jobs) || s.Jobs[at].Name != placed.Name {
			at = slices.IndexFunc(s.Jobs, func(j controller.Job) bool { return j.Name == placed.Name })
		}
		if at < 0 || int(c.Edge) >= len(s.Jobs[at].Edges) ||
			placed.Hosts != nil && len(placed.Hosts) != s.Jobs[at].Tasks() {
			continue
		}
		j := &s.Jobs[at]
		if e := &j.Edges[c.Edge]; !e.FollowsTasks() || placed.Hosts != nil {
			took += c.Ended - c.Ready
			flows := controller.Expand(j, e, placed.Hosts)
			least := s.Alone(flows)
			for _, b := range flows.Size {
				least = max(least, controller.Wire(b).Over(fastest))
			}
			alone += least
		}
	}
	if h.Coflows > 0 {
		h.MeanCCT /= float64(h.Coflows)
	}
	if alone > 0 {
		h.Slowdown = took.Seconds() / alone.Seconds()
	}
}
