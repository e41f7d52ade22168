package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"lightloom/controller"
	"lightloom/southbound/hint"
)

// Actions are what a page can do, besides looking. Those that are nil are not offered.
type Actions struct {
	// Break makes a part fail, or heal, and says what came of it.
	Break func(ctx context.Context, f Failed, heal bool) (string, error)
	// HealAll heals whatever has failed.
	HealAll func(ctx context.Context) (string, error)
	// Try says what would come of a failure, and changes nothing.
	Try func(ctx context.Context, f Failed) ([]string, error)
	// Cancel ends a job.
	Cancel func(ctx context.Context, id controller.JobID) (string, error)
	// Why says what the policy has said of a job's tasks and host flows.
	Why func(ctx context.Context, id controller.JobID) ([]string, error)
	// Capture writes the packets of a port to w, as pcapng.
	Capture func(ctx context.Context, port string, most time.Duration, w io.Writer) error
}

func (a Actions) names() []string {
	out := []string{}
	for _, x := range []struct {
		name string
		has  bool
	}{{"break", a.Break != nil}, {"heal-all", a.HealAll != nil}, {"try", a.Try != nil}, {"cancel",
		a.Cancel != nil},
		{"capture", a.Capture != nil}, {"why", a.Why != nil}} {
		if x.has {
			out = append(out, x.name)
		}
	}
	return out
}

// asked is the body of a request for an action.
type asked struct {
	Failed
	Heal    bool             `json:"heal"`
	Job     controller.JobID `json:"job"`
	Port    string           `json:"port"`
	Seconds float64          `json:"seconds"`
}

// told is the answer.
type told struct {
	Lines []string `json:"lines,omitempty"`
	Error string   `json:"error,omitempty"`
	Hint  string   `json:"hint,omitempty"`
}

// Bounds of what a page asks for.
const (
	mostAsked   = 4 << 10
	mostCapture = time.Minute
)

// read reads a request for an action.
func (a *asked) read(r io.Reader) error {
	if err := json.NewDecoder(r).Decode(a); err != nil {
		return fmt.Errorf("read the page's request: %w", err)
	}
	return nil
}

// do carries an action out.
func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	var q asked
	if err := q.read(http.MaxBytesReader(w, r.Body, mostAsked)); err != nil {
		answer(w, http.StatusBadRequest, nil, err)
		return
	}
	if r.PathValue("what") == "capture" && s.cfg.Actions.Capture != nil {
		s.capture(w, r, q)
		return
	}
	lines, err := s.cfg.Actions.carryOut(r.Context(), r.PathValue("what"), q)
	status := http.StatusOK
	if err != nil {
		status = http.StatusUnprocessableEntity
	}
	answer(w, status, lines, err)
}

func (a Actions) carryOut(ctx context.Context, what string, q asked) ([]string, error) {
	one := func(line string, err error) ([]string, error) { return []string{line}, err }
	switch {
	case what == "break" && a.Break != nil:
		return one(a.Break(ctx, q.Failed, q.Heal))
	case what == "heal-all" && a.HealAll != nil:
		return one(a.HealAll(ctx))
	case what == "try" && a.Try != nil:
		return a.Try(ctx, q.Failed)
	case what == "cancel" && a.Cancel != nil:
		return one(a.Cancel(ctx, q.Job))
	case what == "why" && a.Why != nil:
		return a.Why(ctx, q.Job)
	}
	return nil, errors.New("this testbed does not offer that")
}

func answer(w http.ResponseWriter, status int, lines []string, err error) {
	t := told{Lines: lines}
	if err != nil {
		t = told{Error: err.Error(), Hint: hint.Of(err)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(t) // a browser that has gone wants no answer
}

// late is a writer that sends its headers with the first byte, so that an error before can be told.
type late struct {
	http.ResponseWriter
	begun bool
}

// Write implements io.Writer.
func (l *late) Write(b []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.Header().Set("Content-Type", "application/octet-stream")
	}
	return l.ResponseWriter.Write(b)
}

func (s *Server) capture(w http.ResponseWriter, r *http.Request, q asked) {
	most := time.Duration(q.Seconds * float64(time.Second))
	if most <= 0 || most > mostCapture {
		answer(w, http.StatusBadRequest, nil, fmt.Errorf("capture for %v: give 1 s to %v", most, mostCapture))
		return
	}
	out := &late{ResponseWriter: w}
	if err := s.cfg.Actions.Capture(r.Context(), q.Port, most, out); err != nil && !out.begun {
		answer(w, http.StatusUnprocessableEntity, nil, err)
	}
}
