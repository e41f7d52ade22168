package server

import (
	"time"

	"lightloom/controller/api"
	"lightloom/controller/leader"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// namedClaims gives claims the names of their devices.
func namedClaims(t *pathmap.Topology, all []leader.Claim) (out []api.Claim) {
	for _, c := range all {
		x := api.Claim{Device: t.Node(c.Device).Name, State: c.State.String()}
		if c.Err != nil {
			x.Error = c.Err.Error()
		}
		if c.Refused != nil {
			x.Refused = c.Refused.Error()
		}
		if h := c.Holds; h != nil {
			x.Holds = &api.DeviceHolding{Desired: api.DeviceHolds(h.Desired),
				Accepted: api.DeviceHolds(h.Accepted),
				Seen:     api.DeviceHolds(h.Seen)}
		}
		out = append(out, x)
	}
	return out
}

// namedAgents gives agents the names of their hosts.
func namedAgents(f *topo.Fabric, all []southbound.AgentState) (out []api.Agent) {
	for _, a := range all {
		x := api.Agent{Address: a.Addr, Lost: a.Lost}
		if a.Err != nil {
			x.Error = a.Err.Error()
		}
		for _, h := range a.Hosts {
			if h >= 0 && int(h) < f.Hosts() {
				x.Hosts = append(x.Hosts, f.Topology.Node(f.HostNode[h]).Name)
			}
		}
		out = append(out, x)
	}
	return out
}

// mostSilent bounds the jobs that silent lists, and leastSilent is the least time by which their tasks
// are late.
const (
	mostSilent  = 100
	leastSilent = 30 * time.Second
)

// silent lists jobs with tasks whose agents should have told of their end long ago. Tasks that stream
// end with their streams.
func silent(s *state.State, now time.Duration) (out []api.Silent) {
	d, f := s.Live(), s.Fabric()
	for _, j := range d.Jobs {
		if j.Ended != state.Unset || j.Started == state.Unset {
			continue
		}
		x := api.Silent{Job: j.ID, Name: j.Name}
		for i, t := range d.TasksOf(j) {
			if !t.Running() || j.Stages[t.Stage].Streams > 0 {
				continue
			}
			first, _ := j.StageTasks(int(t.Stage))
			takes := j.Job.Stages[t.Stage].Runs(f, i-first, &t)
			if ran := now - max(t.Started, t.Rated); ran-takes > max(leastSilent, takes/2) {
				if x.Tasks++; ran > x.Longest {
					x.Longest, x.Host = ran, f.Topology.Node(f.HostNode[t.Host]).Name
				}
			}
		}
		if x.Tasks > 0 {
			out = append(out, x)
		}
		if len(out) == mostSilent {
			break
		}
	}
	return out
}

// silent returns this replica's jobs with tasks without a sign of life.
func (p *replicaProcess) silent() (out []api.Silent) {
	now := p.clock.now()
	p.node.View(func(uint64) { out = silent(p.state, now) })
	return out
}
