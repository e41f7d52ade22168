package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// breath is the interval of keep-alives on a silent event stream, so that middleboxes keep it open.
const breath = 15 * time.Second

// serveEvents is the event stream as server-sent events, for a page: GET /v1/events?after=SEQ. A browser that
// reconnects sends its last position by itself (Last-Event-ID).
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
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if err := s.stream(w, r.Context(), after); err != nil {
		s.cfg.Logger.Debug("event stream ended", "to", r.RemoteAddr, "err", err)
	}
}

// stream writes frames until the caller goes away or a write fails. The goroutine it starts ends with the call.
func (s *Server) stream(w http.ResponseWriter, ctx context.Context, after uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	events, ended := make(chan Event), make(chan error, 1)
	go func() {
		ended <- s.cfg.Eventer.Events(ctx, after, func(e Event) error {
			select {
			case events <- e:
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
		case e := <-events:
			next = frame(e)
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
		return 0, fmt.Errorf("read events: after %q: give a number from 0", text)
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
