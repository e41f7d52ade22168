package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	apiv1 "lightloom/controller/api/v1"
)

// breath is the interval of keep-alives on a silent event stream, so that middleboxes keep it open.
const breath = 15 * time.Second

// serveEvents is the event stream as server-sent events, for a page: GET /v1/events?after=SEQ. A
// browser that reconnects sends its last position by itself (Last-Event-ID).
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Eventer == nil {
		http.Error(w, "this controller keeps no events", Missing.HTTPStatus())
		return
	}
	after, err := lastSeen(r)
	if err != nil {
		http.Error(w, err.Error(), Invalid.HTTPStatus())
		return
	}
	s.serveFrames(w, r, func(ctx context.Context, send func([]byte) error) error {
		return s.cfg.Eventer.Events(ctx, after, func(e Event) error { return send(frame(e)) })
	})
}

// serveJobs is a watch of jobs as server-sent events: GET /v1/jobs?after=INDEX&user=NAME&name=NAME.
// Each is a JobsChanged as JSON.
func (s *Server) serveJobs(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Jobs == nil {
		http.Error(w, errNoJobs.Error(), Missing.HTTPStatus())
		return
	}
	after, err := lastSeen(r)
	ask := &apiv1.WatchJobsRequest{After: after}
	if q := r.URL.Query(); q.Get("user") != "" || q.Get("name") != "" {
		ask.Filter = &apiv1.JobFilter{User: q.Get("user"), Name: q.Get("name")}
	}
	if err == nil {
		_, err = s.narrowed(r.Context(), ask.Filter) // before the stream begins
	}
	if err != nil {
		http.Error(w, err.Error(), classify(err).Code.HTTPStatus())
		return
	}
	s.serveFrames(w, r, func(ctx context.Context, send func([]byte) error) error {
		return s.watchJobs(ctx, ask, func(m *apiv1.JobsChanged, shared bool) error {
			encode := func(m *apiv1.JobsChanged) ([]byte, error) { return protojson.Marshal(m) }
			if shared {
				encode = s.told.json
			}
			data, err := encode(m)
			if err != nil {
				return err
			}
			if m.Index == 0 { // a browser that comes back begins before the first of them
				return send(fmt.Appendf(nil, "data: %s\n\n", data))
			}
			return send(fmt.Appendf(nil, "id: %d\ndata: %s\n\n", m.Index, data))
		})
	})
}

// serveFrames answers with the frames that produce sends.
func (s *Server) serveFrames(w http.ResponseWriter, r *http.Request,
	produce func(ctx context.Context, send func([]byte) error) error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if err := writeFrames(w, r.Context(), produce); err != nil {
		s.cfg.Logger.Debug("event stream ended", "to", r.RemoteAddr, "err", err)
	}
}

// writeFrames writes frames until the caller goes away or a write fails. The goroutine it starts ends
// with the call.
func writeFrames(w http.ResponseWriter, ctx context.Context,
	produce func(ctx context.Context, send func([]byte) error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	frames, ended := make(chan []byte), make(chan error, 1)
	go func() {
		ended <- produce(ctx, func(b []byte) error {
			select {
			case frames <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	defer func() { cancel(); _ = <-ended }()
	tick := time.NewTicker(breath)
	defer tick.Stop()
	for out := http.NewResponseController(w); ; {
		if err := out.Flush(); err != nil {
			return err
		}
		next := []byte(": alive\n\n")
		select {
		case next = <-frames:
		case <-tick.C:
		case err := <-ended:
			ended <- err
			return err
		}
		if _, err := w.Write(next); err != nil {
			return err
		}
	}
}

func lastSeen(r *http.Request) (uint64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &Error{Invalid, fmt.Errorf("read events: after %q: give a number from 0", text)}
	}
	return n, nil
}

// frame is one event on the wire: JSON has no line breaks, so it is one data line.
func frame(e Event) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		panic("api: an event cannot be encoded: " + err.Error()) // strings and numbers always can
	}
	return fmt.Appendf(nil, "id: %d\ndata: %s\n\n", e.Seq, data)
}
