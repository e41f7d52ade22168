package leader_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/tracing"
	"lightloom/southbound"
)

// commits is how long the log of traced takes for an entry.
const commits = 7 * time.Millisecond

// traced runs one job of a flow over a circuit from a span, and returns all spans.
func traced(t *testing.T, before func(*lab)) (spans tracetest.SpanStubs) {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	made := tracing.New(sdk.WithSyncer(kept))
	l := newLab(t, 1, greedy{time.Second})
	cfg := l.config(greedy{time.Second}, 1)
	cfg.Tracer = made.Tracer()
	before(l)
	l.leader = leader.New(cfg)
	l.run()
	<-l.leader.Ready()
	l.log.setGate(func(context.Context) error { <-time.After(commits); return nil })
	ctx, root := made.Tracer().Start(t.Context(), "root")
	job := offer(bare("traced", controller.Flow{Src: 0, Dst: 1, Bytes: 1000}))
	if err := l.leader.Submit(ctx, job); err != nil {
		t.Fatal(err)
	}
	if err := l.leader.Submit(ctx, job); err != nil { // a retry adds nothing
		t.Fatal(err)
	}
	plain := offer(bare("plain", controller.Flow{Src: 2, Dst: 3, Bytes: 1000}))
	if err := l.leader.Submit(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	root.End()
	l.until(5*time.Second, "both jobs to end", l.finished(2))
	synctest.Wait()
	l.end()
	return kept.GetSpans()
}

// TestTraces: a job's trace has what the log took, the policy's decision, and the roll-out of its
// circuit with a Set of the optical switch; a job whose submitter has no span has no trace.
func TestTraces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := traced(t, func(*lab) {})
		root := spans[slices.IndexFunc(spans, func(s tracetest.SpanStub) bool { return s.Name == "root" })]
		byName := map[string][]tracetest.SpanStub{}
		for _, s := range spans {
			byName[s.Name] = append(byName[s.Name], s)
			if s.SpanContext.TraceID() != root.SpanContext.TraceID() {
				t.Errorf("%s is of another trace", s.Name)
			}
			if s.EndTime.Before(s.StartTime) || s.StartTime.Before(root.StartTime) {
				t.Errorf("%s: from %v to %v", s.Name, s.StartTime, s.EndTime)
			}
		}
		if n := len(byName["decide"]); n == 0 || n > 3 {
			t.Errorf("%d decisions", n)
		}
		for name, want := range map[string]time.Duration{"decide": 0, "log commit": commits} {
			for _, s := range byName[name] {
				if took := s.EndTime.Sub(s.StartTime); took != want {
					t.Errorf("%s took %v, want %v", name, took, want)
				}
			}
		}
		if len(byName["log commit"]) < 2 || len(byName["roll-out"]) != 1 {
			t.Fatalf("%d commits, %d roll-outs", len(byName["log commit"]), len(byName["roll-out"]))
		}
		for _, name := range []string{"decide", "log commit", "roll-out"} {
			for _, s := range byName[name] {
				if s.Parent.SpanID() != root.SpanContext.SpanID() || !slices.Contains(s.Attributes,
					attribute.Int("lightloom.job", 0)) {
					t.Errorf("%s: below %v, %v", name, s.Parent.SpanID(), s.Attributes)
				}
			}
		}
		if a := byName["log commit"][0].Attributes; !slices.Contains(a,
			attribute.Int("lightloom.entries.JobAccepted", 1)) {
			t.Errorf("the first commit has %v", a)
		}
		rollout := byName["roll-out"][0].SpanContext
		optical := slices.IndexFunc(byName["Set"], func(s tracetest.SpanStub) bool {
			return slices.Contains(s.Attributes, attribute.String("lightloom.device", "ocs"))
		})
		if optical < 0 {
			t.Fatalf("no Set of the optical switch among %v", byName["Set"])
		}
		for _, s := range byName["Set"] {
			if s.Parent.SpanID() != rollout.SpanID() || s.Status.Description != "" {
				t.Errorf("Set below %v: %v", s.Parent.SpanID(), s.Status)
			}
		}
	})
}

// refusing is a device that refuses its first change.
type refusing struct {
	door
	once atomic.Bool
}

func (r *refusing) Set(ctx context.Context, c *southbound.Change) error {
	if len(c.Connect) > 0 && !r.once.Swap(true) {
		return fmt.Errorf("laser safety: %w", southbound.ErrRefused)
	}
	return r.door.Set(ctx, c)
}

// TestTracesTellRefusals: a Set that the optical switch refuses is an error in its span, with the reason.
func TestTracesTellRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := traced(t, func(l *lab) {
			l.doors[l.fabric.OCSNode] = &refusing{door: door{l.devices[l.fabric.OCSNode], 1}}
		})
		for _, s := range spans {
			for _, e := range s.Events {
				if s.Name == "Set" && slices.ContainsFunc(e.Attributes, func(a attribute.KeyValue) bool {
					return strings.Contains(a.Value.AsString(), "laser safety")
				}) {
					return
				}
			}
		}
		t.Errorf("no Set tells the reason: %v", spans)
	})
}

// TestTracesOff: without a tracer nothing is kept of callers' spans.
func TestTracesOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := tracetest.NewInMemoryExporter()
		made := tracing.New(sdk.WithSyncer(kept))
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		ctx, root := made.Tracer().Start(t.Context(), "root")
		if err := l.leader.Submit(ctx, offer(bare("a",
			controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
			t.Fatal(err)
		}
		root.End()
		l.until(5*time.Second, "the job to end", l.finished(1))
		l.end()
		if spans := kept.GetSpans(); len(spans) != 1 {
			t.Errorf("%d spans", len(spans))
		}
	})
}
