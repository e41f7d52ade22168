package leader

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// maxTraced bounds the jobs that are traced at once: of more than that, the latest are not.
const maxTraced = 4096

// traces tells of the jobs whose submitters have a span: when the log took them, when the policy
// decided on them, and how their circuits were rolled out, Set by Set. nil tells nothing. A leader does
// not know of traces that an earlier one began.
type traces struct {
	tracer trace.Tracer
	fabric func() *topo.Fabric

	mu    sync.Mutex
	asked map[string]trace.SpanContext           // by request, until the log has it
	jobs  map[controller.JobID]trace.SpanContext // until they end
	moves map[move]trace.Span                    // roll-outs under way

	began, decided time.Time // of the last step; the loop's alone
}

type move struct{ in, out southbound.Port }

func newTraces(t trace.Tracer, fabric func() *topo.Fabric) *traces {
	if t == nil {
		return nil
	}
	return &traces{tracer: t, fabric: fabric, asked: map[string]trace.SpanContext{},
		jobs: map[controller.JobID]trace.SpanContext{}, moves: map[move]trace.Span{}}
}

// ask notes whose trace requests belong to; forget ends that.
func (t *traces) ask(ctx context.Context, requests []string) (forget func()) {
	sc := trace.SpanContextFromContext(ctx)
	if t == nil || !sc.IsSampled() {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range requests {
		if len(t.asked)+len(t.jobs) < maxTraced {
			t.asked[r] = sc
		}
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, r := range requests {
			delete(t.asked, r)
		}
	}
}

// stepping and stepped are around a step.
func (t *traces) stepping() {
	if t != nil {
		t.began = time.Now()
	}
}

func (t *traces) stepped() {
	if t != nil {
		t.decided = time.Now()
	}
}

// committed tells of entries that have been applied. It is called between two entries.
func (t *traces) committed(s *state.State, index uint64, entries []state.Entry) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked)+len(t.jobs) == 0 {
		return
	}
	per := map[controller.JobID]map[state.Kind]int{}
	for i := range entries {
		e := &entries[i]
		if sc, ok := t.asked[e.Request]; ok && e.Kind == state.JobAccepted {
			if id, ok := s.Requested(e.Request); ok {
				t.jobs[id] = sc
				delete(t.asked, e.Request)
			}
		}
		if id, ok := t.jobOf(s, e); ok {
			if per[id] == nil {
				per[id] = map[state.Kind]int{}
			}
			per[id][e.Kind]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(per)) {
		t.record(id, index, per[id])
	}
	for i := range entries {
		t.move(s, &entries[i])
	}
	t.end(s)
}

// decides are the kinds of entries that a policy's plan becomes.
var decides = []state.Kind{state.Placed, state.Routed, state.CircuitReserved,
	state.AdmissionDecided, state.Withdrawn}

// record makes the spans of one step about one job.
func (t *traces) record(id controller.JobID, index uint64, kinds map[state.Kind]int) {
	ctx := trace.ContextWithSpanContext(context.Background(), t.jobs[id])
	about := []attribute.KeyValue{attribute.Int("lightloom.job", int(id))}
	planned := false
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		about = append(about, attribute.Int("lightloom.entries."+k.String(), kinds[k]))
		planned = planned || slices.Contains(decides, k)
	}
	if planned {
		_, span := t.tracer.Start(ctx, "decide", trace.WithTimestamp(t.began), trace.WithAttributes(about...))
		span.End(trace.WithTimestamp(t.decided))
	}
	_, span := t.tracer.Start(ctx, "log commit", trace.WithTimestamp(t.decided),
		trace.WithAttributes(append(about, attribute.Int64("lightloom.index", int64(index)))...))
	span.End()
}

// jobOf returns the traced job that an entry is about.
func (t *traces) jobOf(s *state.State, e *state.Entry) (id controller.JobID, ok bool) {
	coflow := southbound.CoflowID(-1)
	switch e.Kind {
	case state.JobAccepted:
		if id, ok = s.Requested(e.Request); !ok {
			return 0, false
		}
	case state.Placed:
		id = e.Placement.Job
	case state.StageStarted:
		id = e.JobID
	case state.Routed:
		coflow = e.Routing.Coflow
	case state.CircuitReserved:
		coflow = e.CircuitReservation.Coflow
	case state.CoflowStarted, state.AdmissionDecided, state.Withdrawn, state.CircuitIntended:
		coflow = e.Coflow
	default:
		return 0, false
	}
	if coflow >= 0 {
		c := s.Coflow(coflow)
		if c == nil {
			return 0, false
		}
		id = c.Job
	}
	_, ok = t.jobs[id]
	return id, ok
}

// move begins and ends the span of a roll-out.
func (t *traces) move(s *state.State, e *state.Entry) {
	m := move{e.Port, e.Out}
	switch e.Kind {
	case state.CircuitIntended:
		id, ok := t.jobOf(s, e)
		if !ok {
			return
		}
		_, t.moves[m] = t.tracer.Start(trace.ContextWithSpanContext(context.Background(),
			t.jobs[id]), "roll-out",
			trace.WithAttributes(attribute.Int("lightloom.job", int(id)),
				attribute.Int("lightloom.in", int(e.Port)),
				attribute.Int("lightloom.out", int(e.Out))))
	case state.CircuitSettled:
		span := t.moves[m]
		if span == nil {
			return
		}
		if !e.OK {
			span.SetStatus(codes.Error, "the circuit was not set up")
		}
		span.End()
		delete(t.moves, m)
	}
}

// end forgets jobs that have ended.
func (t *traces) end(s *state.State) {
	for id := range t.jobs {
		if j := s.Job(id); j == nil || j.Ended > 0 {
			delete(t.jobs, id)
		}
	}
}

// close ends what is under way with the leadership.
func (t *traces) close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for m, span := range t.moves {
		span.SetStatus(codes.Error, ErrStopped.Error())
		span.End()
		delete(t.moves, m)
	}
}

// set begins the spans of a Set in the roll-outs that need it: from when it is queued until the device
// has answered.
func (t *traces) set(s *rollout.Set) (done func(error)) {
	if t == nil {
		return func(error) {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var spans []trace.Span
	f := t.fabric()
	for _, m := range slices.SortedFunc(maps.Keys(t.moves), func(a, b move) int {
		return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.out, b.out))
	}) {
		if !m.needs(f, s) {
			continue
		}
		_, span := t.tracer.Start(trace.ContextWithSpan(context.Background(), t.moves[m]), "Set",
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
				attribute.String("lightloom.device", f.Topology.Node(s.Device).Name),
				attribute.Int("lightloom.connects", len(s.Change.Connect)),
				attribute.Int("lightloom.rules", len(s.Change.Rules)+len(s.Change.Drop))))
		spans = append(spans, span)
	}
	return func(err error) {
		for _, span := range spans {
			if err != nil {
				span.RecordError(err)
				span.SetStatus(codes.Error, "refused or not answered")
			}
			span.End()
		}
	}
}

// needs reports whether a roll-out has to do with a Set: that names one of its ports, or rules of the
// circuit's tag to its rack.
func (m move) needs(f *topo.Fabric, s *rollout.Set) bool {
	rack := southbound.RackID(f.OCSRack(int32(m.out)))
	ocs, in := f.OCSAt(int32(m.in))
	_, out := f.OCSAt(int32(m.out))
	circuit := func(x southbound.Match) bool { return x.Tag == southbound.TagCircuit && x.Dst == rack }
	return s.Device == ocs && slices.ContainsFunc(s.Change.Connect, func(c southbound.CrossConnect) bool {
		return int32(c.In) == in || int32(c.Out) == out
	}) || slices.ContainsFunc(s.Change.Rules, func(r southbound.Rule) bool { return circuit(r.Match) }) ||
		slices.ContainsFunc(s.Change.Drop, circuit)
}
