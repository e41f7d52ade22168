package controller

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Limits of one job, so that a mistaken or hostile submission cannot exhaust the controller.
const (
	MaxTasks       = 1 << 16
	MaxFlows       = 1 << 20
	MaxEdges       = 1 << 16
	MaxKeys        = 1 << 16
	MaxPolicyState = 1 << 12
	MaxBytes       = pathmap.Bytes(1 << 50)
	MaxRate        = pathmap.BitsPerSecond(1e15)
)

// Check returns what is wrong with a job on a fabric of the given numbers of hosts and slots (of all
// hosts, which have equally many), or nil.
func (j *Job) Check(hosts, slots int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("job %q: %w", j.Name, fmt.Errorf(format, args...))
	}
	switch n := j.Tasks(); {
	case len(j.Stages) == 0 && len(j.Edges) == 0:
		return fail("has neither stages nor flows")
	case n > MaxTasks:
		return fail("has %d tasks, at most %d are taken", n, MaxTasks)
	case n > slots && !j.Incremental:
		return fail("has %d tasks, the fabric has %d slots: add hosts or slots, or place it incrementally", n, slots)
	case j.Lifetime < 0 || j.Lifetime > Endless:
		return fail("lives for %v; take a time up to %v, or none", j.Lifetime, Endless)
	case j.Lifetime > 0 && !j.GoesOn():
		return fail("has a lifetime, and no stream of it has a rate: it ends by itself; leave the lifetime away")
	case j.Arrival < 0:
		return fail("arrives before the run, at %v", j.Arrival)
	case !j.Predicted.possible():
		return fail("is predicted to have %d maps and %d reduces, of %v and %v, with %d and %d bytes; take numbers from 0 "+
			"up to %d tasks and %d bytes",
			j.Predicted.Maps, j.Predicted.Reduces, j.Predicted.MapTime, j.Predicted.RedTime, j.Predicted.Input,
			j.Predicted.Shuffle, MaxTasks, MaxBytes)
	case j.Deadline < 0 || j.Deadline > southbound.Never-1-j.Arrival:
		return fail("is to end %v after its arrival at %v; take a time above zero, or none", j.Deadline, j.Arrival)
	}
	for i, s := range j.Stages {
		if len(s.Tasks) == 0 {
			return fail("stage %d (%q) has no tasks", i, s.Name)
		}
		for k, t := range s.Tasks {
			if t.Compute < 0 || t.NonLocal < 0 || t.NonLocal > southbound.Never-t.Compute {
				return fail("task %d of stage %d computes for %v and %v more; take times from zero up", k, i, t.Compute, t.NonLocal)
			}
			if t.Input < 0 || t.Input > MaxBytes {
				return fail("task %d of stage %d reads %d bytes; take 0 to %d", k, i, t.Input, MaxBytes)
			}
		}
		if err := s.checkSizes(j, slots/max(hosts, 1)); err != nil {
			return fail("stage %d (%q) %w", i, s.Name, err)
		}
		if j.Incremental && len(s.Tasks) > slots && j.receives(i) {
			return fail("stage %d (%q) receives, and its %d tasks must all have a slot for that; the fabric has %d: make fewer",
				i, s.Name, len(s.Tasks), slots)
		}
	}
	if !j.fits(slots/max(hosts, 1), hosts) {
		return fail("its %d tasks take %d slots, and do not all fit on %d hosts of %d slots: make tasks smaller or fewer, "+
			"or add hosts", j.Tasks(), j.Slots(), hosts, slots/max(hosts, 1))
	}
	for i := range j.Edges {
		if err := j.checkEdge(&j.Edges[i], hosts); err != nil {
			return fail("edge %d: %w", i, err)
		}
	}
	if err := j.checkGraph(); err != nil {
		return fail("%w", err)
	}
	return nil
}

// possible reports whether a job with this prediction could exist; nil is possible. A wrong prediction
// is no error here.
func (p *Prediction) possible() bool {
	return p == nil || p.Input >= 0 && p.Input <= MaxBytes && p.Shuffle >= 0 && p.Shuffle <= MaxBytes && p.Maps >= 0 &&
		p.Maps <= MaxTasks &&
		p.Reduces >= 0 && p.Reduces <= MaxTasks && p.MapTime >= 0 && p.RedTime >= 0
}

func (j *Job) checkEdge(e *Edge, hosts int) error {
	if e.Kind == Fixed && e.Reducers != nil {
		return fmt.Errorf("has reducers, and its flows are fixed: only a %v has", ScatterGather)
	}
	if e.Reads != nil {
		return j.checkRead(e, hosts)
	}
	if e.Kind == Fixed {
		return e.checkFixed(hosts)
	}
	n := len(j.Stages)
	if e.Reducers != nil && e.To >= 0 && e.To < n {
		if err := j.checkReducers(e); err != nil {
			return err
		}
	}
	switch {
	case e.Kind >= kinds:
		return fmt.Errorf("kind %d is unknown", e.Kind)
	case e.From < 0 || e.From >= n || e.To < 0 || e.To >= n:
		return fmt.Errorf("joins stage %d to %d; the job's stages are 0 to %d", e.From, e.To, n-1)
	case e.From == e.To && !e.Stream:
		return fmt.Errorf("joins stage %d to itself, and only a stream may", e.From)
	case e.Kind == Pairs:
		return j.checkPairs(e)
	case e.Keys < 0 || e.Keys > MaxKeys || e.Keys > 0 && e.Kind != Fields:
		return fmt.Errorf("has %d keys; take up to %d, and only where the grouping is %v", e.Keys, MaxKeys, Fields)
	case len(e.Flows) > 0:
		return errors.New("has fixed flows and is not of kind fixed")
	case e.Bytes < 0 || e.Bytes > MaxBytes:
		return fmt.Errorf("carries %d bytes; take 0 to %d", e.Bytes, MaxBytes)
	case e.Rate < 0 || e.Rate > MaxRate:
		return fmt.Errorf("makes %v; take 0 to %v", e.Rate, MaxRate)
	case e.Rate > 0 && e.Bytes > 0:
		return fmt.Errorf("has %d bytes and a rate of %v: a stream that ends has bytes, one that does not has a rate",
			e.Bytes, e.Rate)
	case e.Rate > 0 && !e.Stream:
		return errors.New("has a rate, and only streams go on and on: make it a stream, or give it bytes")
	case !e.Stream && j.GoesOn():
		return errors.New("waits for a stage to end, and the job has a stream that never does: give that bytes in place of " +
			"its rate, or make this a stream")
	case e.Kind == OneToOne && len(j.Stages[e.From].Tasks) != len(j.Stages[e.To].Tasks):
		return errors.New("is one-to-one between stages of unequal size")
	case j.Incremental && e.Stream:
		return errors.New("is a stream of an incremental job: its tasks run side by side, and have to be placed so")
	case j.Incremental && e.Kind == ScatterGather && min(len(j.Stages[e.From].Tasks), hosts)*min(len(j.Stages[e.To].Tasks),
		hosts) <= MaxFlows:
		return nil // flows between the same two hosts are made at once
	case len(j.Stages[e.From].Tasks)*len(j.Stages[e.To].Tasks) > MaxFlows:
		return fmt.Errorf("has more than %d flows", MaxFlows)
	}
	return nil
}

// checkFixed checks an edge whose flows are between hosts, whatever tasks are where.
func (e *Edge) checkFixed(hosts int) error {
	switch {
	case e.Stream:
		return errors.New("is a stream with fixed flows: name the stages that it joins")
	case len(e.Flows) == 0:
		return errors.New("has no flows")
	case len(e.Flows) > MaxFlows:
		return fmt.Errorf("has %d flows, at most %d are taken", len(e.Flows), MaxFlows)
	}
	sum := pathmap.Bytes(0)
	for _, f := range e.Flows {
		switch {
		case f.Src < 0 || int(f.Src) >= hosts || f.Dst < 0 || int(f.Dst) >= hosts:
			return fmt.Errorf("flow %d→%d: the fabric's hosts are 0 to %d", f.Src, f.Dst, hosts-1)
		case f.Bytes <= 0 || f.Bytes > MaxBytes:
			return fmt.Errorf("flow %d→%d: %d bytes; take 1 to %d", f.Src, f.Dst, f.Bytes, MaxBytes)
		}
		if sum += f.Bytes; sum > MaxBytes {
			return fmt.Errorf("flows hold more than %d bytes", MaxBytes)
		}
	}
	return nil
}

// receives reports whether some edge ends at a stage.
func (j *Job) receives(stage int) bool {
	return slices.ContainsFunc(j.Edges, func(e Edge) bool { return e.FollowsTasks() && e.To == stage })
}
