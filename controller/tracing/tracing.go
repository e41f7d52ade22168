// Package tracing sends OpenTelemetry traces of jobs to a collector, from the call that submits one to
// each device's Set. Ids of a caller's trace come and go in the header traceparent (W3C Trace Context),
// also where a replica forwards a call.
//
// It is not the record of what was decided, which is the log's: traces are lost where the collector is away.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// scope names who makes the spans.
const scope = "lightloom/controller"

// closeWithin bounds how long an ending replica waits for the collector.
const closeWithin = 2 * time.Second

// Exporter makes spans and sends them to a collector.
type Exporter struct{ provider *sdk.TracerProvider }

// CheckURL refuses what is no collector's address: plaintext is for loopback alone.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("traces: %q is no URL such as http://127.0.0.1:4318", text)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("traces: %q is plaintext to another machine: write https://", text)
	}
	return nil
}

// Open sends the spans of a replica to the collector at a URL, by OTLP over HTTP; without a path in it
// to /v1/traces. Nothing is sent before there is a span. The environment of OpenTelemetry
// (OTEL_EXPORTER_OTLP_HEADERS and the like) holds, and the collector's outages go to log. An empty URL
// gives nil, which traces nothing.
func Open(ctx context.Context, at, replica, cluster string, log *slog.Logger) (*Exporter, error) {
	if at == "" {
		return nil, nil
	}
	if err := CheckURL(at); err != nil {
		return nil, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return New(sdk.WithBatcher(&sender{SpanExporter: to, log: log}), sdk.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "lightloom"), attribute.String("service.instance.id", replica),
		attribute.String("lightloom.cluster", cluster)))), nil
}

// New makes spans as options say.
func New(opt ...sdk.TracerProviderOption) *Exporter { return &Exporter{sdk.NewTracerProvider(opt...)} }

// Tracer makes the spans: a nil Exporter's makes none.
func (e *Exporter) Tracer() trace.Tracer {
	if e == nil {
		return noop.NewTracerProvider().Tracer(scope)
	}
	return e.provider.Tracer(scope)
}

// Close sends what waits, for as long as an ending replica can wait.
func (e *Exporter) Close() error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("traces: %w", err)
	}
	return nil
}

// sender keeps outages of the collector from OpenTelemetry's global handler of errors.
type sender struct {
	sdk.SpanExporter
	log *slog.Logger
}

// ExportSpans implements sdk.SpanExporter.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := s.SpanExporter.ExportSpans(ctx, spans); err != nil {
		s.log.Warn("send traces", "spans", len(spans), "error", err)
	}
	return nil
}

// Carry writes the ids of the context's span into a header.
func Carry(ctx context.Context, h http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
}

// Carried returns a context with the ids in a header, if there are any.
func Carried(ctx context.Context, h http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
}
