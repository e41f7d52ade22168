package noise

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDisturbed(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		span Span
		want bool
	}{
		{"quiet", Span{Wall: 400 * ms, Lost: 5 * ms, Gap: 4 * ms, Others: 0.1}, false},
		{"often late", Span{Wall: 400 * ms, Lost: 21 * ms, Gap: 5 * ms}, true},
		{"once, for long", Span{Wall: 10_000 * ms, Lost: 25 * ms, Gap: 26 * ms}, true},
		{"others are busy", Span{Wall: 400 * ms, Others: 0.5}, true},
	} {
		if got := tt.span.Disturbed(); got != tt.want {
			t.Errorf("%s: disturbed %v", tt.name, got)
		}
	}
}

// TestWatch: what is watched lasts as long as it lasts, and a prober that is always kept waiting has
// lost all of it.
func TestWatch(t *testing.T) {
	end := Watch()
	<-time.After(30 * time.Millisecond)
	if s := end(); s.Wall < 30*time.Millisecond || s.Gap <= 0 || s.Gap > s.Wall || s.Lost > s.Wall {
		t.Errorf("%+v", s)
	}
}

func TestBusy(t *testing.T) {
	for _, tt := range []struct {
		stat string
		want time.Duration
	}{
		{"cpu  1 2 4 8 16 32 64 128 0 0\ncpu0 9", (1 + 2 + 4 + 128) * 10 * time.Millisecond},
		{"cpu 1 2", 0},
		{"intr 1 2 3 4 5 6 7 8 9", 0},
		{"cpu 1 2 x 4 5 6 7 8 9", 0},
		{"", 0},
	} {
		if got := busy(tt.stat); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.stat, got, tt.want)
		}
	}
}

// verdicts is a fake test that records its results.
type verdicts struct {
	testing.TB
	logs, errors []string
}

func (v *verdicts) Helper()                    {}
func (v *verdicts) Failed() bool               { return len(v.errors) > 0 }
func (v *verdicts) Logf(f string, args ...any) { v.logs = append(v.logs, fmt.Sprintf(f, args...)) }
func (v *verdicts) Errorf(f string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(f, args...))
}

// TestMeasure: what keeps its bounds counts at once; what misses one is taken again where it was
// disturbed, and only then, and not for ever.
func TestMeasure(t *testing.T) {
	missed := errors.New("too late")
	busy, quiet := Span{Wall: time.Second, Lost: time.Second}, Span{Wall: time.Second}
	for _, tt := range []struct {
		name          string
		spans         []Span
		answers       []error
		taken, failed int
	}{
		{"kept", []Span{quiet}, []error{nil}, 1, 0},
		{"kept, disturbed or not", []Span{busy}, []error{nil}, 1, 0},
		{"missed on a quiet machine", []Span{quiet}, []error{missed}, 1, 1},
		{"missed, then kept", []Span{busy, busy, busy}, []error{missed, missed, nil}, 3, 0},
		{"missed while disturbed, and then on a quiet machine", []Span{busy, quiet},
			[]error{missed, missed}, 2, 1},
		{"always missed", []Span{busy, busy, busy}, []error{missed, missed, missed}, 3, 1},
	} {
		v := &verdicts{TB: t}
		taken := 0
		watch := func() func() Span { return func() Span { return tt.spans[taken-1] } }
		measureWith(v, 3, watch, func() error { taken++; return tt.answers[taken-1] })
		if taken != tt.taken || len(v.errors) != tt.failed || len(v.logs) != taken-1 || tt.failed > 0 &&
			!strings.Contains(v.errors[0], "too late") {
			t.Errorf("%s: taken %d times, logs %q, errors %q", tt.name, taken, v.logs, v.errors)
		}
	}
}
