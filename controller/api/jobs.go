package api

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Limits of one batch.
const (
	MaxJobs        = 10_000
	MaxRequestSize = 128 // bytes of a request id
	maxName        = 256 // bytes of a job's, user's or stage's name
	maxParts       = 1 << 12
)

// jobFromWire checks what can be checked without a fabric: form, counts and ranges.
// controller.Job.Check does the rest.
func jobFromWire(m *apiv1.Job) (*controller.Job, error) {
	switch {
	case m == nil:
		return nil, fmt.Errorf("is empty")
	case len(m.Name) > maxName || len(m.User) > maxName:
		return nil, fmt.Errorf("has a name or user above %d bytes", maxName)
	case len(m.Slice) > maxName:
		return nil, fmt.Errorf("has a slice of %d bytes: write its shape, as 2x2x4", len(m.Slice))
	case len(m.Stages) > maxParts || len(m.Edges) > maxParts:
		return nil, fmt.Errorf("has %d stages and %d edges, at most %d are taken", len(m.Stages),
			len(m.Edges), maxParts)
	case math.IsNaN(m.Weight) || math.IsInf(m.Weight, 0) || m.Weight < 0:
		return nil, fmt.Errorf("has weight %v; take a finite number from 0", m.Weight)
	}
	j := &controller.Job{Name: m.Name, User: m.User, Arrival: time.Duration(m.ArrivalNs), Weight: m.Weight,
		Deadline: time.Duration(m.DeadlineNs),
		Lifetime: time.Duration(m.LifetimeNs), Incremental: m.Incremental, Predicted: predictionFromWire(m.Predicted),
		Limits: limitsFromWire(m.Limits), Slice: m.Slice}
	for i, s := range m.Stages {
		stage, err := stageFromWire(s)
		if err != nil {
			return nil, fmt.Errorf("stage %d: %w", i, err)
		}
		j.Stages = append(j.Stages, stage)
	}
	for i, e := range m.Edges {
		edge, err := edgeFromWire(e)
		if err != nil {
			return nil, fmt.Errorf("edge %d: %w", i, err)
		}
		j.Edges = append(j.Edges, edge)
	}
	return j, nil
}

func stageFromWire(m *apiv1.Stage) (controller.Stage, error) {
	if len(m.GetName()) > maxName || len(m.GetComputeNs()) > controller.MaxTasks {
		return controller.Stage{}, fmt.Errorf("has a name above %d bytes or more than %d tasks",
			maxName, controller.MaxTasks)
	}
	input, far, load := m.GetInputBytes(), m.GetFarNs(), m.GetLoadNs()
	for _, n := range [3]int{len(input), len(far), len(load)} {
		if n != 0 && n != len(m.GetComputeNs()) {
			return controller.Stage{}, fmt.Errorf("has %d tasks and what %d of them read or load: take that of all, or of none",
				len(m.GetComputeNs()), n)
		}
	}
	racks := m.GetReplicas()
	if n := controller.Replicas * len(m.GetComputeNs()); len(racks) != 0 && len(racks) != n {
		return controller.Stage{}, fmt.Errorf("has %d tasks and names %d racks of their blocks: name %d, or none",
			len(m.GetComputeNs()), len(racks), n)
	}
	if len(m.GetEfficiency()) > controller.MaxEfficiencies {
		return controller.Stage{}, fmt.Errorf("has efficiencies of %d hosts, at most %d are taken",
			len(m.GetEfficiency()),
			controller.MaxEfficiencies)
	}
	if n := len(m.GetHosts()); n != 0 && n != len(m.GetComputeNs()) {
		return controller.Stage{}, fmt.Errorf("has %d tasks and hosts of %d: name one for each, or none",
			len(m.GetComputeNs()), n)
	}
	s := controller.Stage{Name: m.GetName(), Efficiency: slices.Clone(m.GetEfficiency()),
		Hosts: hostsFromWire(m.GetHosts()),
		Tasks: make([]controller.Task, 0, len(m.GetComputeNs()))}
	for i, ns := range m.GetComputeNs() {
		t := controller.Task{Compute: time.Duration(ns), Slots: m.GetSlots()}
		if len(input) > 0 {
			t.Input = pathmap.Bytes(input[i])
		}
		if len(far) > 0 {
			t.NonLocal = time.Duration(far[i])
		}
		if len(load) > 0 {
			t.Load = time.Duration(load[i])
		}
		if len(racks) > 0 {
			t.Replicas = replicasFromWire(racks[controller.Replicas*i : controller.Replicas*(i+1)])
		}
		s.Tasks = append(s.Tasks, t)
	}
	return s, nil
}

// replicasFromWire returns the racks of one task's block; nil where none is named.
func replicasFromWire(racks []int32) (out []southbound.RackID) {
	for _, r := range racks {
		if r != noRack {
			out = append(out, southbound.RackID(r))
		}
	}
	return out
}

// noRack stands in the place of a copy that there is not.
const noRack = -1

func replicasToWire(tasks []controller.Task) []int32 {
	if !slices.ContainsFunc(tasks, func(t controller.Task) bool { return len(t.Replicas) > 0 }) {
		return nil
	}
	out := slices.Repeat([]int32{noRack}, controller.Replicas*len(tasks))
	for i, t := range tasks {
		for k, r := range t.Replicas[:min(len(t.Replicas), controller.Replicas)] {
			out[controller.Replicas*i+k] = int32(r)
		}
	}
	return out
}

// stageToWire is the inverse of stageFromWire.
func stageToWire(s *controller.Stage) *apiv1.Stage {
	w := &apiv1.Stage{Name: s.Name, ComputeNs: make([]int64, 0, len(s.Tasks)), Efficiency: s.Efficiency,
		Replicas: replicasToWire(s.Tasks)}
	for _, h := range s.Hosts {
		w.Hosts = append(w.Hosts, int32(h))
	}
	input, far, load := make([]int64, len(s.Tasks)), make([]int64, len(s.Tasks)), make([]int64, len(s.Tasks))
	reads, waits, loads := false, false, false
	for i, t := range s.Tasks {
		w.ComputeNs = append(w.ComputeNs, int64(t.Compute))
		w.Slots = max(w.Slots, t.Slots)
		input[i], far[i] = int64(t.Input), int64(t.NonLocal)
		load[i] = int64(t.Load)
		reads, waits, loads = reads || t.Input != 0, waits || t.NonLocal != 0, loads || t.Load != 0
	}
	if loads {
		w.LoadNs = load
	}
	if reads {
		w.InputBytes = input
	}
	if waits {
		w.FarNs = far
	}
	return w
}

func limitsFromWire(m *apiv1.Limits) *controller.Limits {
	if m == nil {
		return nil
	}
	return &controller.Limits{Host: m.Host, Rack: m.Rack, Pod: m.Pod, Center: m.Center, Energy: m.Energy}
}

func limitsToWire(l *controller.Limits) *apiv1.Limits {
	if l == nil {
		return nil
	}
	return &apiv1.Limits{Host: l.Host, Rack: l.Rack, Pod: l.Pod, Center: l.Center, Energy: l.Energy}
}

func predictionFromWire(m *apiv1.Prediction) *controller.Prediction {
	if m == nil {
		return nil
	}
	return &controller.Prediction{Input: pathmap.Bytes(m.Input), Shuffle: pathmap.Bytes(m.Shuffle),
		Maps:    int(m.Maps),
		Reduces: int(m.Reduces),
		MapTime: time.Duration(m.MapNs), RedTime: time.Duration(m.ReduceNs)}
}

func predictionToWire(p *controller.Prediction) *apiv1.Prediction {
	if p == nil {
		return nil
	}
	count := func(n int) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }
	return &apiv1.Prediction{Input: int64(p.Input), Shuffle: int64(p.Shuffle), Maps: count(p.Maps),
		Reduces: count(p.Reduces),
		MapNs:   int64(p.MapTime), ReduceNs: int64(p.RedTime)}
}

func edgeFromWire(m *apiv1.Edge) (controller.Edge, error) {
	switch {
	case m.GetKind() < 0 || m.GetKind() > apiv1.EdgeKind_EDGE_KIND_PAIRS:
		return controller.Edge{}, fmt.Errorf("kind %d is unknown", m.GetKind())
	case m.GetFrom() > maxParts || m.GetTo() > maxParts:
		return controller.Edge{}, fmt.Errorf("joins stage %d to %d", m.GetFrom(), m.GetTo())
	case len(m.GetFlows()) > controller.MaxFlows:
		return controller.Edge{}, fmt.Errorf("has %d flows, at most %d are taken", len(m.GetFlows()),
			controller.MaxFlows)
	}
	e := controller.Edge{
		Kind: controller.EdgeKind(m.GetKind()), From: int(m.GetFrom()), To: int(m.GetTo()),
		Bytes:  pathmap.Bytes(m.GetBytes()),
		Stream: m.GetStream(), Keys: m.GetKeys(), Rate: pathmap.BitsPerSecond(m.GetRate()),
		Reducers: m.GetReducers(),
	}
	if r := m.GetReads(); r != nil {
		if len(r.Hosts) > controller.MaxTasks || r.Kind < 0 || r.Kind > apiv1.EdgeKind_EDGE_KIND_GLOBAL {
			return e, fmt.Errorf("reads %d parts by kind %d; take up to %d, and a kind that is known",
				len(r.Hosts), r.Kind,
				controller.MaxTasks)
		}
		e.Reads = &controller.Read{Job: r.Job, Kind: controller.EdgeKind(r.Kind), Hosts: hostsFromWire(r.Hosts)}
	}
	if n := len(m.GetFlows()); n > 0 {
		e.Flows = make([]controller.Flow, 0, n)
	}
	for i, f := range m.GetFlows() {
		if f.GetCount() < 0 {
			return controller.Edge{}, fmt.Errorf("flow %d stands for %d flows", i, f.GetCount())
		}
		e.Flows = append(e.Flows, controller.Flow{
			Src: southbound.HostID(f.GetSrc()), Dst: southbound.HostID(f.GetDst()), Bytes: pathmap.Bytes(f.GetBytes()),
			Count: f.GetCount(),
		})
	}
	return e, nil
}

func hostsFromWire(hosts []int32) []southbound.HostID {
	var out []southbound.HostID
	for _, h := range hosts {
		out = append(out, southbound.HostID(h))
	}
	return out
}

func readToWire(r *controller.Read) *apiv1.Input {
	if r == nil {
		return nil
	}
	m := &apiv1.Input{Job: r.Job, Kind: apiv1.EdgeKind(r.Kind)}
	if r.Job != "" {
		return m
	}
	for _, h := range r.Hosts {
		m.Hosts = append(m.Hosts, int32(h))
	}
	return m
}

// jobToWire is the inverse of jobFromWire; what acceptance gives a job is left out.
func jobToWire(j *controller.Job) *apiv1.Job {
	m := &apiv1.Job{Name: j.Name, User: j.User, ArrivalNs: int64(j.Arrival), Weight: j.Weight,
		DeadlineNs: int64(j.Deadline), LifetimeNs: int64(j.Lifetime),
		Incremental: j.Incremental, Predicted: predictionToWire(j.Predicted), Limits: limitsToWire(j.Limits),
		Slice: j.Slice}
	for i := range j.Stages {
		m.Stages = append(m.Stages, stageToWire(&j.Stages[i]))
	}
	for _, e := range j.Edges {
		w := &apiv1.Edge{Kind: apiv1.EdgeKind(e.Kind), From: uint32(e.From), To: uint32(e.To),
			Bytes:  int64(e.Bytes),
			Stream: e.Stream, Keys: e.Keys, Rate: int64(e.Rate), Reads: readToWire(e.Reads),
			Reducers: e.Reducers}
		for _, f := range e.Flows {
			w.Flows = append(w.Flows, &apiv1.Flow{Src: int32(f.Src), Dst: int32(f.Dst),
				Bytes: int64(f.Bytes), Count: f.Count})
		}
		m.Edges = append(m.Edges, w)
	}
	return m
}

func countFlows(jobs []*apiv1.Job) (n int) {
	for _, j := range jobs {
		for _, e := range j.GetEdges() {
			n += len(e.GetFlows())
		}
	}
	return n
}

// offers checks a whole batch. Each job gets a request of its own: the batch's and its place in it.
// What the batch says of arrivals is left out, unless it is of a recorded run.
func offers(m *apiv1.SubmitJobsRequest, recorded bool,
	check func(*controller.Job) error) ([]controller.Offer, error) {
	fail := func(format string, args ...any) ([]controller.Offer, error) {
		return nil, &Error{Invalid, fmt.Errorf("submit jobs: "+format, args...)}
	}
	switch {
	case m.RequestId == "":
		return fail("no request id: choose one that is new for each batch")
	case len(m.RequestId) > MaxRequestSize:
		return fail("request id of %d bytes, at most %d are taken", len(m.RequestId), MaxRequestSize)
	case len(m.Jobs) == 0:
		return fail("no jobs")
	case len(m.Jobs) > MaxJobs:
		return fail("%d jobs, at most %d are taken at once", len(m.Jobs), MaxJobs)
	}
	if n := countFlows(m.Jobs); n > controller.MaxFlows { // before anything is made of them
		return nil, &Error{TooLarge, fmt.Errorf("submit jobs: %d flows, at most %d are taken at once: submit fewer jobs "+
			"at a time", n, controller.MaxFlows)}
	}
	out := make([]controller.Offer, 0, len(m.Jobs))
	jobs := make([]*controller.Job, 0, len(m.Jobs))
	for i, w := range m.Jobs {
		j, err := jobFromWire(w)
		if err == nil && !recorded {
			j.Arrival = 0
		}
		if err == nil && check != nil {
			err = check(j)
		}
		if err != nil {
			return fail("job %d: %w", i, err)
		}
		out = append(out, controller.Offer{Job: j, Request: fmt.Sprintf("%s/%d", m.RequestId, i),
			Recorded: recorded})
		jobs = append(jobs, j)
	}
	if _, err := controller.ParentsFirst(jobs); err != nil {
		return fail("%w", err)
	}
	return out, nil
}
