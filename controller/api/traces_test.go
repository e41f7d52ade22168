package api

import (
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"lightloom/controller"
	"lightloom/controller/tracing"
)

// TestTraceIsForwarded: a caller's trace goes on in the replica that it asks and in the leader to which
// that forwards; a refusal is an error in both.
func TestTraceIsForwarded(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	made := tracing.New(sdk.WithSyncer(kept))
	tc := newTestCluster(t, func(_ int, c *Config) { c.Tracer = made.Tracer() })
	tc.lead(1)
	ctx, root := made.Tracer().Start(within(t, hanging), "root")
	if _, err := tc.dial(t, 0).Submit(ctx, "batch", []*controller.Job{coflow("a")}); err != nil {
		t.Fatal(err)
	}
	spans := kept.GetSpans()
	at := func(replica string) tracetest.SpanStub {
		t.Helper()
		i := slices.IndexFunc(spans, func(s tracetest.SpanStub) bool {
			return slices.Contains(s.Attributes, attribute.String("lightloom.replica", replica))
		})
		if i < 0 {
			t.Fatalf("no span of %s among %d", replica, len(spans))
		}
		return spans[i]
	}
	asked, led := at("r0"), at("r1")
	if asked.Parent.SpanID() != root.SpanContext().SpanID() ||
		led.Parent.SpanID() != asked.SpanContext.SpanID() ||
		led.SpanContext.TraceID() != root.SpanContext().TraceID() || led.SpanKind != trace.SpanKindServer {
		t.Errorf("root %v, asked below %v, led below %v", root.SpanContext().SpanID(), asked.Parent.SpanID(),
			led.Parent.SpanID())
	}
	kept.Reset()
	if _, err := tc.dial(t, 1).Submit(ctx, "", []*controller.Job{coflow("b")}); CodeOf(err) != Invalid {
		t.Fatal(err)
	}
	if spans = kept.GetSpans(); at("r1").Status.Code != codes.Error {
		t.Errorf("status %v", at("r1").Status)
	}
}
