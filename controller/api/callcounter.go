package api

import (
	"context"
	"net/http"
	"path"
	"time"

	"connectrpc.com/connect"
)

// answered tells of a call that has ended.
func (s *Server) answered(procedure string, took time.Duration, err error) {
	if s.cfg.Callers.Answered == nil {
		return
	}
	code := "ok"
	if err != nil {
		code = string(CodeOf(decode(err)))
	}
	s.cfg.Callers.Answered(path.Base(procedure), code, took)
}

// callCounter tells of the calls that the service answers.
type callCounter struct{ *Server }

// WrapUnary implements connect.Interceptor.
func (t callCounter) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		began := time.Now()
		out, err := next(ctx, r)
		t.answered(r.Spec().Procedure, time.Since(began), err)
		return out, err
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (t callCounter) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, c connect.StreamingHandlerConn) error {
		err := next(ctx, c)
		t.answered(c.Spec().Procedure, 0, err)
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (callCounter) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// tallied tells of calls that Connect does not see: streams of server-sent events, which end when their
// reader goes.
func (s *Server) tallied(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		next(w, r)
		s.answered(r.URL.Path, 0, nil)
	}
}
