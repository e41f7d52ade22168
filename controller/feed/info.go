package feed

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// job is a job with what belongs to it, live or from the history.
type job struct {
	*state.Job
	tasks  []state.Task
	coflow func(southbound.CoflowID) *state.Coflow
}

func live(s *state.State, j *state.Job) job { return job{j, s.Live().TasksOf(j), s.Coflow} }

func past(l state.Left) job {
	return job{l.Job, l.Tasks, func(id southbound.CoflowID) *state.Coflow {
		for _, c := range l.Coflows {
			if c.ID == id {
				return c
			}
		}
		return &state.Coflow{ID: id, Ready: state.Unset, Started: state.Unset, Ended: state.Unset} // of a damaged record
	}}
}

// someHosts bounds the hosts of a job in a list.
const someHosts = 16

// info tells how far a job is; most bounds its hosts, and 0 does not.
func (f *Feed) info(j job, most int) *apiv1.JobInfo {
	out := &apiv1.JobInfo{Id: int32(j.ID), Name: j.Name, User: j.User, Phase: phase(j.Job),
		Why:    f.cfg.State.Why(j.Job),
		Weight: j.Weight, ArrivalNs: int64(j.Arrival), PlacedNs: instant(j.Placed), StartedNs: instant(j.Started),
		EndedNs: instant(j.Ended), DeadlineNs: int64(j.Deadline), LifetimeNs: int64(j.Lifetime),
		Tasks: int32(len(j.tasks)), Coflows: int32(len(j.Edges)),
		Arrival: f.wall(j.Arrival), Started: f.wall(j.Started), Ended: f.wall(j.Ended)}
	for i := range j.tasks {
		if j.tasks[i].Ended != state.Unset {
			out.TasksEnded++
		}
	}
	for i := range j.Edges {
		c := j.coflow(j.FirstCoflow + southbound.CoflowID(i))
		out.Bytes += int64(c.Bytes + c.Local)
		if c.Ended != state.Unset {
			out.CoflowsEnded++
		}
	}
	if j.Ended != state.Unset {
		n := int64(delivered(j))
		out.Delivered = &n
	}
	out.Hosts = f.hosts(j.Hosts, most)
	return out
}

func (f *Feed) hosts(of []southbound.HostID, most int) (names []string) {
	fabric := f.cfg.State.Fabric()
	for _, h := range of {
		if h < 0 || int(h) >= fabric.Hosts() {
			continue
		}
		if names = append(names, fabric.Topology.Node(fabric.HostNode[h]).Name); len(names) == most {
			break
		}
	}
	return names
}

func phase(j *state.Job) apiv1.JobPhase {
	switch {
	case j.Cancelled:
		return apiv1.JobPhase_JOB_PHASE_CANCELLED
	case j.Ended != state.Unset:
		return apiv1.JobPhase_JOB_PHASE_ENDED
	case j.Started != state.Unset:
		return apiv1.JobPhase_JOB_PHASE_RUNNING
	}
	return apiv1.JobPhase_JOB_PHASE_WAITING
}

// instant is nil before it comes.
func instant(t time.Duration) *int64 {
	if t == state.Unset {
		return nil
	}
	n := int64(t)
	return &n
}

// wall is the time of the day of an instant; nil before it comes.
func (f *Feed) wall(t time.Duration) *timestamppb.Timestamp {
	if t == state.Unset {
		return nil
	}
	epoch, known := f.cfg.State.Epoch()
	if !known {
		epoch = f.cfg.Epoch
	}
	return timestamppb.New(epoch.Add(t))
}

// delivered are the bytes that a job's sinks have received: the stages that send nothing to another.
func delivered(j job) (sum pathmap.Bytes) {
	for i := range j.Edges {
		e := &j.Edges[i]
		sends := func(x controller.Edge) bool {
			return x.Kind != controller.Fixed && x.From == e.To &&
				x.To != e.To
		}
		if e.Kind != controller.Fixed && e.From != e.To && !slices.ContainsFunc(j.Edges, sends) {
			c := j.coflow(j.FirstCoflow + southbound.CoflowID(i))
			sum += c.Bytes + c.Local
		}
	}
	return sum
}

// whole tells all of a job.
func (f *Feed) whole(j job) *apiv1.GetJobResponse {
	out := &apiv1.GetJobResponse{Job: f.info(j, 0)}
	for i, st := range j.Job.Stages {
		of := &j.Job.Job.Stages[i]
		x := &apiv1.StageInfo{Name: of.Name, Tasks: int32(len(of.Tasks)), Started: st.Started}
		x.TasksEnded = x.Tasks - st.Remaining
		out.Stages = append(out.Stages, x)
	}
	for i := range j.Edges {
		out.Coflows = append(out.Coflows, coflowInfo(j, j.FirstCoflow+southbound.CoflowID(i), &j.Edges[i]))
	}
	for _, id := range j.Redo {
		if e := int(j.coflow(id).Edge); e < len(j.Edges) {
			out.Coflows = append(out.Coflows, coflowInfo(j, id, &j.Edges[e]))
		}
	}
	return out
}

func coflowInfo(j job, id southbound.CoflowID, e *controller.Edge) *apiv1.CoflowInfo {
	c := j.coflow(id)
	out := &apiv1.CoflowInfo{Id: int32(id), Kind: apiv1.EdgeKind(e.Kind), Stream: e.Stream, Resent: c.Resent,
		ReadyNs: instant(c.Ready), StartedNs: instant(c.Started), EndedNs: instant(c.Ended), Bytes: int64(c.Bytes),
		Local: int64(c.Local), HostFlows: c.HostFlows, HostFlowsLeft: c.Remaining}
	if stages := j.Job.Job.Stages; e.Kind != controller.Fixed && e.From < len(stages) && e.To < len(stages) {
		out.From, out.To = stages[e.From].Name, stages[e.To].Name
	}
	if c.Admission != controller.Undecided {
		out.Admission = c.Admission.String()
	}
	return out
}
