package tracing

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestCollector: spans reach a collector by OTLP, with who made them.
func TestCollector(t *testing.T) {
	var mu sync.Mutex
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var m collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(b, &m)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		for _, x := range m.ResourceSpans {
			who := ""
			for _, a := range x.Resource.Attributes {
				who += a.Key + "=" + a.Value.GetStringValue() + " "
			}
			for _, s := range x.ScopeSpans {
				for _, span := range s.Spans {
					got = append(got, who+span.Name)
				}
			}
		}
	}))
	defer srv.Close()
	e, err := Open(t.Context(), srv.URL, "r1", "c1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, span := e.Tracer().Start(t.Context(), "one")
	span.End()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := "lightloom.cluster=c1 service.instance.id=r1 service.name=lightloom one"
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCollectorAway: a collector that refuses is told in the log, and nothing else happens.
func TestCollectorAway(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	var log bytes.Buffer
	e, err := Open(t.Context(), srv.URL+"/elsewhere", "r1", "", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_, span := e.Tracer().Start(t.Context(), "one")
	span.End()
	if err := e.Close(); err != nil || !strings.Contains(log.String(), `msg="send traces" spans=1`) {
		t.Errorf("%v, %s", err, log.String())
	}
}

func TestCheckURL(t *testing.T) {
	for at, ok := range map[string]bool{"http://127.0.0.1:4318": true, "http://localhost:4318/v1/traces": true,
		"http://[::1]:4318": true, "https://collector.example": true, "http://collector.example": false,
		"127.0.0.1:4318": false, "": false, "ftp://a": false, "http://": false, "http://127.0.0.1.example": false} {
		if err := CheckURL(at); (err == nil) != ok {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// TestOff: without a collector there are no spans, and a caller's ids still pass through.
func TestOff(t *testing.T) {
	e, err := Open(t.Context(), "", "r1", "", nil)
	if e != nil || err != nil {
		t.Fatalf("%v, %v", e, err)
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	in, out := http.Header{"Traceparent": {parent}}, http.Header{}
	ctx, span := e.Tracer().Start(Carried(t.Context(), in), "none")
	span.End()
	if Carry(ctx, out); out.Get("Traceparent") != parent || span.IsRecording() {
		t.Errorf("%v", out)
	}
	Carry(trace.ContextWithSpanContext(t.Context(), trace.SpanContext{}), out)
	if e.Close() != nil {
		t.Error("not closed")
	}
}
