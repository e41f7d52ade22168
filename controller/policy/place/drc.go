package place

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// lend is the DRC procedure (the dissertation's algorithm 6): what a host has left goes to its running
// tasks by their loads, until the next scheduling. Hosts that a plan has just given tasks take back what
// they lent, and lend again once those run.
func (m *machines) lend(p *controller.Plan) {
	given, sum := m.given(p), make([]float64, len(m.vcpus))
	m.running(func(h southbound.HostID, load float64, _ *controller.TaskState, _ southbound.TaskID) { sum[h] += load })
	m.running(func(h southbound.HostID, load float64, t *controller.TaskState, id southbound.TaskID) {
		r := controller.Resize{Task: id, MilliVCPUs: t.MilliVCPUs}
		if r.MilliVCPUs == 0 {
			r.MilliVCPUs = controller.Share(m.v.Fabric, h, 1)
		}
		if !given[h] {
			r.ExtraMilli = int32(float64(m.vcpus[h]) * load / sum[h])
		}
		if r.ExtraMilli != t.ExtraMilli {
			p.Resize = append(p.Resize, r)
		}
	})
}

// given returns the hosts that a plan gives tasks.
func (m *machines) given(p *controller.Plan) []bool {
	out := make([]bool, len(m.vcpus))
	for i := range p.Place {
		for _, h := range p.Place[i].Hosts {
			if h != controller.NoHost {
				out[h] = true
			}
		}
	}
	return out
}

// running calls f with each running task that has a load, and the vCPU time that its host takes for it.
func (m *machines) running(f func(h southbound.HostID, load float64, t *controller.TaskState, id southbound.TaskID)) {
	for i := range m.v.Loaded {
		j := &m.v.Loaded[i]
		for k := range j.Tasks {
			t := &j.Tasks[k]
			first, _ := j.Job.StageTasks(int(t.Stage))
			stage := &j.Job.Stages[t.Stage]
			if load := stage.Tasks[k-first].Load.Seconds(); load > 0 && t.Running() {
				f(t.Host, load/stage.EfficiencyOn(t.Host), t, j.Job.FirstTask+southbound.TaskID(k))
			}
		}
	}
}
