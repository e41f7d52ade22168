package replica

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"slices"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// bridge lets raft, which speaks hclog, log to a slog.Logger. Raft's levels are kept; its trace is
// slog's debug.
func bridge(l *slog.Logger) hclog.Logger { return &hlog{to: l} }

// hlog is an hclog.Logger. It is immutable, so With and Named return new ones.
type hlog struct {
	to      *slog.Logger
	name    string
	implied []any
}

var _ hclog.Logger = (*hlog)(nil)

func level(l hclog.Level) slog.Level {
	switch l {
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	case hclog.Info:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// Log writes one record. That there is nothing new for a snapshot is no error. hclog.Fmt values are formats
// with their arguments, which slog would print as lists.
func (h *hlog) Log(l hclog.Level, msg string, args ...any) {
	ctx := context.Background()
	if slices.Contains(args, any(raft.ErrNothingNewToSnapshot)) {
		l = hclog.Debug
	}
	if l == hclog.Off || !h.to.Enabled(ctx, level(l)) {
		return
	}
	h.to.Log(ctx, level(l), msg, plain(args)...)
}

func plain(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if f, ok := a.(hclog.Format); ok && len(f) > 0 {
			a = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
		out[i] = a
	}
	return out
}

func (h *hlog) Trace(msg string, args ...any) { h.Log(hclog.Trace, msg, args...) }
func (h *hlog) Debug(msg string, args ...any) { h.Log(hclog.Debug, msg, args...) }
func (h *hlog) Info(msg string, args ...any)  { h.Log(hclog.Info, msg, args...) }
func (h *hlog) Warn(msg string, args ...any)  { h.Log(hclog.Warn, msg, args...) }
func (h *hlog) Error(msg string, args ...any) { h.Log(hclog.Error, msg, args...) }

func (h *hlog) on(l hclog.Level) bool { return h.to.Enabled(context.Background(), level(l)) }
func (h *hlog) IsTrace() bool         { return h.on(hclog.Trace) }
func (h *hlog) IsDebug() bool         { return h.on(hclog.Debug) }
func (h *hlog) IsInfo() bool          { return h.on(hclog.Info) }
func (h *hlog) IsWarn() bool          { return h.on(hclog.Warn) }
func (h *hlog) IsError() bool         { return h.on(hclog.Error) }

func (h *hlog) ImpliedArgs() []any { return h.implied }

func (h *hlog) With(args ...any) hclog.Logger {
	implied := append(append([]any{}, h.implied...), args...)
	return &hlog{to: h.to.With(plain(args)...), name: h.name, implied: implied}
}

func (h *hlog) Name() string { return h.name }

func (h *hlog) Named(name string) hclog.Logger {
	if h.name != "" {
		name = h.name + "." + name
	}
	return h.ResetNamed(name)
}

func (h *hlog) ResetNamed(name string) hclog.Logger {
	return &hlog{to: h.to, name: name, implied: h.implied}
}

// SetLevel does nothing: the slog handler decides.
func (h *hlog) SetLevel(hclog.Level) {}

func (h *hlog) GetLevel() hclog.Level {
	for _, l := range []hclog.Level{hclog.Debug, hclog.Info, hclog.Warn, hclog.Error} {
		if h.on(l) {
			return l
		}
	}
	return hclog.Off
}

func (h *hlog) StandardLogger(o *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(h.StandardWriter(o), "", 0)
}

func (h *hlog) StandardWriter(*hclog.StandardLoggerOptions) io.Writer { return hlogWriter{h} }

// hlogWriter makes one record of each line.
type hlogWriter struct{ to *hlog }

func (w hlogWriter) Write(b []byte) (int, error) {
	w.to.Info(string(bytes.TrimRight(b, "\n")))
	return len(b), nil
}
