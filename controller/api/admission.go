package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller/internal/fair"
)

// takes is what a call takes up of a replica while it is answered. Callers share each kind fairly, by name.
type takes int

// The kinds.
const (
	aCall  takes = iota
	aPage        // a read whose answer is large
	aBatch       // of jobs
	aWatch       // a stream
)

// admission shares a replica among its callers. A call has a slot only once its request is read, and
// until its answer is known: neither who sends slowly nor who reads slowly holds one.
type admission struct {
	bodies *fair.Budget
	gates  map[takes]*fair.Slots
}

// surely is how many bytes of requests a caller can hold whatever others hold.
const surely = 1 << 20

func newAdmission(l Limits) *admission {
	half := func(n int) *fair.Slots { return fair.NewSlots(n, max(1, n/2)) }
	return &admission{
		bodies: fair.NewBudget(surely, max(surely, l.Bytes/2), l.Bytes),
		gates: map[takes]*fair.Slots{aCall: half(l.Calls), aPage: half(l.Pages), aBatch: half(l.Batches),
			aWatch: half(l.Watches)},
	}
}

// pass is the slot of a call.
type pass struct{ leave func() }

type passKey struct{}

// take gives a call what it takes up, and hands it on.
func (s *Server) take(w http.ResponseWriter, r *http.Request, kind takes, who Caller, next http.Handler) {
	if who.Kind == byReplica { // it does nothing but what the cluster needs
		next.ServeHTTP(w, r)
		return
	}
	ctx, end := context.WithTimeout(r.Context(), s.cfg.Limits.Call)
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	share := s.admission.bodies.Open(who.String(), func() { cancel(errFullOfRequests) })
	defer share.Close()
	body, err := s.read(ctx, w, r, share, cancel)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	leave, err := s.enter(ctx, kind, who)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	share.Keep()
	p := &pass{sync.OnceFunc(leave)}
	defer p.leave()
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passKey{}, p)))
}

func (s *Server) enter(ctx context.Context, kind takes, who Caller) (leave func(), err error) {
	gate := s.admission.gates[kind]
	if kind != aWatch {
		if leave, err = gate.Enter(ctx, who.String()); err == nil {
			return leave, nil
		}
	} else if leave, ok := gate.Try(who.String()); ok {
		return leave, nil
	}
	return nil, &Error{Busy, fmt.Errorf("too many calls of this kind at once by %s, or by all", who)}
}

// refuse answers a call that is not let in.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.answered(r.URL.Path, 0, err)
	_ = connect.NewErrorWriter().Write(w, r, encode(err)) // the caller has gone
}

// passing gives a slot back as soon as the answer is known: its caller may read it as slowly as it likes.
func passing() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			if p, ok := ctx.Value(passKey{}).(*pass); ok {
				defer p.leave()
			}
			return next(ctx, r)
		}
	}
}

// Bounds of reading a request: so many bytes are read at first, and beside the envelope of a message.
const (
	firstRead = 4 << 10
	envelope  = 1 << 10
)

// read returns the whole body of a request; nil if it has none, or may go on as long as the call. What
// is above the largest request is left out, and its reader refuses it by its size.
func (s *Server) read(ctx context.Context, w http.ResponseWriter, r *http.Request, share *fair.Share,
	cancel context.CancelCauseFunc) ([]byte, error) {
	if r.Method != http.MethodPost || r.URL.Path == reflectionPath || r.URL.Path == reflectionAlphaPath {
		return nil, nil
	}
	in := s.paced(ctx, w, r.Body, cancel)
	defer in.stop()
	most := s.cfg.Limits.Body + envelope
	size := min(firstRead, most)
	if n := r.ContentLength; n >= 0 && n < int64(size) {
		size = int(n) + 1 // one more finds the end at once
	}
	if share.Grow(size) != nil {
		return nil, errFullOfRequests
	}
	b := make([]byte, 0, size)
	for len(b) < most {
		if len(b) == cap(b) {
			more := min(cap(b), most-cap(b))
			if share.Grow(more) != nil {
				return nil, errFullOfRequests
			}
			b = append(make([]byte, 0, cap(b)+more), b...)
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, whyNot(ctx, err)
		}
	}
	return b, nil
}

var errFullOfRequests = &Error{Busy, errors.New("requests that are being read fill the memory for them")}

// paced reads a body that must keep a pace.
type paced struct {
	io.Reader
	pace  int
	grace time.Duration
	began time.Time
	n     atomic.Int64            // bytes so far
	slow  context.CancelCauseFunc // ends ctx
	undo  func() bool
	timer *time.Timer

	mu sync.Mutex
	to *http.ResponseController // nil: the reading is over
}

// paced returns a reader of a body that ends when ctx does, which it cancels when the body is slower
// than Limits.Pace. stop is to be called.
func (s *Server) paced(ctx context.Context, w http.ResponseWriter, body io.Reader,
	cancel context.CancelCauseFunc) *paced {
	p := &paced{Reader: body, slow: cancel, pace: s.cfg.Limits.Pace, grace: s.cfg.Limits.Grace,
		began: time.Now(),
		to:    http.NewResponseController(w)}
	p.timer = time.AfterFunc(math.MaxInt64, p.checkPace)
	p.timer.Reset(p.grace)
	p.undo = context.AfterFunc(ctx, p.end)
	return p
}

// end ends the reading, whatever it waits for.
func (p *paced) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to != nil {
		_ = p.to.SetReadDeadline(time.Unix(1, 0)) // our own server's bodies can
	}
}

// due is how long the bytes read so far may have taken.
func (p *paced) due() time.Duration {
	return p.grace + time.Duration(p.n.Load())*time.Second/time.Duration(p.pace)
}

func (p *paced) checkPace() {
	if left := p.due() - time.Since(p.began); left > 0 {
		p.timer.Reset(left)
		return
	}
	p.slow(&Error{Late, fmt.Errorf("read request: %d bytes came in %v: send at least %d a second", p.n.Load(),
		time.Since(p.began).Round(time.Millisecond), p.pace)})
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.n.Add(int64(n))
	return n, err
}

func (p *paced) stop() {
	p.timer.Stop()
	p.undo()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = nil
}

// whyNot is the error of a call whose body was not read to its end.
func whyNot(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var e *Error
	switch {
	case errors.As(cause, &e):
		return e
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{Invalid, fmt.Errorf("read request: %w", err)}
	case errors.Is(cause, context.Canceled):
		return &Error{Busy, errors.New("read request: this replica is ending")}
	}
	return &Error{Late, fmt.Errorf("read request: %w", err)}
}
