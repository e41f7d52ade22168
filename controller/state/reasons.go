package state

import (
	"fmt"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Reasons returns what the jobs that have not ended wait for, as far as failures are the reason.
func (s *State) Reasons() map[controller.JobID]string {
	out := map[controller.JobID]string{}
	for _, j := range s.d.Jobs {
		if why := s.Why(j); why != "" {
			out[j.ID] = why
		}
	}
	return out
}

// Why returns what a job waits for that has not ended, as far as slots or failures are the reason;
// otherwise "".
func (s *State) Why(j *Job) string {
	if j.Ended != Unset {
		return ""
	}
	f := s.fabric
	name := func(h southbound.HostID) string { return f.Topology.Node(f.HostNode[h]).Name }
	if why := s.Reason(j, name); why != "" {
		return why
	}
	if j.Placed == Unset {
		return s.awaitsSlots(j)
	}
	if src, dst, cut := s.cutOff(j); cut {
		return "no path over packets is whole from " + name(src) + " to " + name(dst)
	}
	return ""
}

// cutOff returns the hosts of a job's host flow that is to go over packets and for which no packet path
// is whole: of the first one that has not ended.
func (s *State) cutOff(j *Job) (src, dst southbound.HostID, cut bool) {
	if len(s.d.Down) == 0 {
		return 0, 0, false
	}
	f, parts := s.fabric, s.packetParts()
	for _, id := range coflowsOf(j) {
		c := s.Coflow(id)
		if c.Ended != Unset {
			continue
		}
		for r, src := range c.Columns.Src {
			dst := c.Columns.Dst[r]
			if r < len(c.Done) && c.Done[r] || parts[f.HostNode[src]] == parts[f.HostNode[dst]] {
				continue
			}
			if r >= len(c.Tag) || !southbound.NamesCircuit(f, s.TagOf(id, c, int32(r))) {
				return src, dst, true
			}
		}
	}
	return 0, 0, false
}

// packetParts returns, for each node, the part of the packet network that it is in: those of one part
// can reach each other over links with light.
func (s *State) packetParts() []pathmap.NodeID {
	t := s.fabric.Topology
	part := make([]pathmap.NodeID, len(t.Nodes()))
	for n := range part {
		part[n] = pathmap.NodeID(n)
	}
	root := func(n pathmap.NodeID) pathmap.NodeID {
		for part[n] != n {
			part[n] = part[part[n]]
			n = part[n]
		}
		return n
	}

	var v controller.View
	s.viewDown(&v)
	for l, link := range t.Links() {
		optical := t.Node(link.From).Role == pathmap.OCS || t.Node(link.To).Role == pathmap.OCS
		if !optical && !v.Down[l] {
			part[root(link.From)] = root(link.To)
		}
	}
	for n := range part {
		part[n] = root(pathmap.NodeID(n))
	}
	return part
}

// awaitsSlots says what a job waits for that could begin: slots, of which the hosts that are left can
// have too few.
func (s *State) awaitsSlots(j *Job) string {
	if !j.Incremental && (len(s.d.Lost) > 0 || s.drains.hosts != nil) {
		if n, left := j.Slots(), s.slotsLeft(); n > left {
			return fmt.Sprintf("it takes %d slots at once, and hosts with %d are left: it waits for those lost or drained", n,
				left)
		}
	}
	if n, all := j.Slots(), s.fabric.Hosts()*s.fabric.Spec.Slots; j.Incremental && n > all {
		return fmt.Sprintf("it waits for slots; all its tasks take %d, and there are %d, so that only a policy starts it "+
			"that places tasks one by one, such as fair", n, all)
	}
	return "it waits for slots"
}

// slotsLeft returns how many slots the hosts have that are neither lost nor drained.
func (s *State) slotsLeft() (n int) {
	for h := range southbound.HostID(s.fabric.Hosts()) {
		if !s.Lost(h) && !s.isDrained(h) {
			n += s.fabric.Spec.Slots
		}
	}
	return n
}
