package wire

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// Runs splits tasks into requests, without their election.
func Runs(tasks []southbound.Task) []*agentpb.RunRequest {
	var out []*agentpb.RunRequest
	for part := range slices.Chunk(tasks, ChunkRows) {
		req := &agentpb.RunRequest{Tasks: make([]*agentpb.Task, len(part))}
		for i, t := range part {
			req.Tasks[i] = &agentpb.Task{Task: int32(t.Task), Host: int32(t.Host),
				ComputeNs: int64(t.Compute), TaskTry: t.Try, MilliVcpus: t.MilliVCPUs}
		}
		out = append(out, req)
	}
	return out
}

// Tasks reads the tasks of a request.
func Tasks(m *agentpb.RunRequest) []southbound.Task {
	out := make([]southbound.Task, len(m.GetTasks()))
	for i, t := range m.GetTasks() {
		out[i] = southbound.Task{Task: southbound.TaskID(t.GetTask()), Host: southbound.HostID(t.GetHost()),
			Compute: time.Duration(t.GetComputeNs()), Try: t.GetTaskTry(), MilliVCPUs: t.GetMilliVcpus()}
	}
	return out
}

// CheckTask returns an error if a task is invalid on a fabric with that many hosts.
func CheckTask(t southbound.Task, hosts int) error {
	switch {
	case t.Host < 0 || int(t.Host) >= hosts:
		return fmt.Errorf("run task %d: host %d: the fabric's are 0 to %d: %w", t.Task, t.Host, hosts-1,
			southbound.ErrRefused)
	case t.Try < 0:
		return fmt.Errorf("run task %d: try %d: count from 0: %w", t.Task, t.Try, southbound.ErrRefused)
	case t.Compute < 0:
		return fmt.Errorf("run task %d: computes for %v, which is below zero: %w", t.Task, t.Compute,
			southbound.ErrRefused)
	case t.MilliVCPUs < 0:
		return fmt.Errorf("run task %d: %d thousandths of a vCPU: take 1 up, or 0 for no limit: %w", t.Task, t.MilliVCPUs,
			southbound.ErrRefused)
	}
	return nil
}

// Steers splits steerings into requests, without their election.
func Steers(steers []southbound.Steer) []*agentpb.SteerRequest {
	var out []*agentpb.SteerRequest
	for part := range slices.Chunk(steers, ChunkRows) {
		req := &agentpb.SteerRequest{Steers: make([]*agentpb.Steering, len(part))}
		for i, s := range part {
			req.Steers[i] = &agentpb.Steering{Coflow: int32(s.Coflow), Row: s.Row, Tag: uint32(s.Tag)}
		}
		out = append(out, req)
	}
	return out
}

// Steerings reads the steerings of a request, and refuses tags that do not exist.
func Steerings(m *agentpb.SteerRequest) ([]southbound.Steer, error) {
	out := make([]southbound.Steer, len(m.GetSteers()))
	for i, s := range m.GetSteers() {
		tag, err := tagOf(s.GetTag())
		if err != nil {
			return nil, fmt.Errorf("steer row %d of coflow %d: %w", s.GetRow(), s.GetCoflow(), err)
		}
		out[i] = southbound.Steer{Tag: tag,
			HostFlowKey: southbound.HostFlowKey{Coflow: southbound.CoflowID(s.GetCoflow()), Row: s.GetRow()}}
	}
	return out, nil
}

func tagOf(t uint32) (southbound.Tag, error) {
	if t > 255 || !ValidTag(southbound.Tag(t)) {
		return 0, fmt.Errorf("tag %d: take 0 to %d, or %d to hold: %w", t, southbound.Tags-1, southbound.TagHold,
			southbound.ErrRefused)
	}
	return southbound.Tag(t), nil
}

// SetRates splits rates into requests, without their election: the first holds all but the pairs that
// do not fit.
func SetRates(r *southbound.Rates) ([]*agentpb.SetRatesRequest, error) {
	if err := CheckRates(r); err != nil {
		return nil, err
	}
	first := &agentpb.SetRatesRequest{Fair: r.Fair, Pace: make([]*agentpb.Pace, len(r.Pace))}
	for i, p := range r.Pace {
		first.Pace[i] = &agentpb.Pace{Coflow: int32(p.Coflow), UntilNs: int64(p.Until)}
	}
	first.Spread, first.Extra = spreadMessages(r.Spreads()), extraMessages(r.Extra)
	for _, p := range r.Priority {
		first.Priority = append(first.Priority, &agentpb.Priority{Coflow: int32(p.Coflow),
			Priority: uint32(p.Priority),
			Low:      p.Low})
	}
	out := []*agentpb.SetRatesRequest{first}
	req := first
	for part := range slices.Chunk(r.Pairs, ChunkRows) {
		if req == nil || len(first.Pace)+len(first.Spread)+len(first.Extra) > ChunkRows {
			req = &agentpb.SetRatesRequest{OnlyPairs: true}
			out = append(out, req)
		}
		for _, p := range part {
			req.Pairs = append(req.Pairs, &agentpb.PairRate{Src: int32(p.Src), Dst: int32(p.Dst),
				Tag:           uint32(p.Tag),
				BitsPerSecond: int64(p.Rate)})
		}
		req = nil
	}
	return out, nil
}

// Rates reads a request. onlyPairs says that all but pairs stays as it is.
func Rates(m *agentpb.SetRatesRequest) (r *southbound.Rates, onlyPairs bool, err error) {
	r = &southbound.Rates{Fair: m.GetFair()}
	for _, p := range m.GetPace() {
		r.Pace = append(r.Pace, southbound.Pace{Coflow: southbound.CoflowID(p.GetCoflow()),
			Until: time.Duration(p.GetUntilNs())})
	}
	r.Spread, r.Extra = spreads(m.GetSpread()), extras(m.GetExtra())
	for _, p := range m.GetPriority() {
		r.Priority = append(r.Priority, southbound.Priority{Coflow: southbound.CoflowID(p.GetCoflow()),
			Priority: uint8(min(p.GetPriority(), math.MaxUint8)), Low: p.GetLow()})
	}
	for _, p := range m.GetPairs() {
		tag, err := tagOf(p.GetTag())
		if err != nil {
			return nil, false, fmt.Errorf("set rates: pair %d→%d: %w", p.GetSrc(), p.GetDst(), err)
		}
		r.Pairs = append(r.Pairs, southbound.PairRate{Src: southbound.HostID(p.GetSrc()),
			Dst: southbound.HostID(p.GetDst()),
			Tag: tag, Rate: pathmap.BitsPerSecond(p.GetBitsPerSecond())})
	}
	if err := CheckRates(r); err != nil {
		return nil, false, err
	}
	if m.GetOnlyPairs() && (r.Fair || len(r.Pace)+len(r.Spread)+len(r.Extra) > 0) {
		return nil, false, fmt.Errorf("set rates: only pairs, and others beside them: %w", southbound.ErrRefused)
	}
	return r, m.GetOnlyPairs(), nil
}
