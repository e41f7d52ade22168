package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// rateLimitedHandler leaves out a message that was logged within the last while: a replica that cannot reach
// another one says so many times a second.
type rateLimitedHandler struct {
	slog.Handler
	while time.Duration
	last  *lastLogged
}

// lastLogged is when each message was logged last. Messages are constants of the program, so there are few.
type lastLogged struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newQuiet(h slog.Handler, while time.Duration) slog.Handler {
	return &rateLimitedHandler{h, while, &lastLogged{at: map[string]time.Time{}}}
}

// Handle implements slog.Handler.
func (q *rateLimitedHandler) Handle(ctx context.Context, r slog.Record) error {
	if !q.last.passes(r.Message, r.Time, q.while) {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (l *lastLogged) passes(message string, now time.Time, while time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.at[message]; ok && now.Sub(at) < while {
		return false
	}
	l.at[message] = now
	return true
}

// WithAttrs implements slog.Handler.
func (q *rateLimitedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &rateLimitedHandler{q.Handler.WithAttrs(attrs), q.while, q.last}
}

// WithGroup implements slog.Handler.
func (q *rateLimitedHandler) WithGroup(name string) slog.Handler {
	return &rateLimitedHandler{q.Handler.WithGroup(name), q.while, q.last}
}
