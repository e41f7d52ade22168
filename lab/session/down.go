package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"lightloom/lab/console"
)

// WentDown is the result of the command down.
type WentDown struct {
	Down    bool    `json:"down"`
	Seconds float64 `json:"seconds"` // that it took
}

// downWithin bounds how long a fabric can take to clean up.
const downWithin = 30 * time.Second

// Down ends this user's running fabric, and returns once another can be started.
func Down(ctx context.Context, output string, w io.Writer) error {
	began := time.Now()
	if _, err := ask(request{Down: true}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, downWithin,
		errors.New("down: the fabric's process still runs"))
	defer cancel()
	for running() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
	done := WentDown{true, time.Since(began).Seconds()}
	if output == console.OutputJSON {
		return console.WriteJSON(w, done)
	}
	_, err := fmt.Fprintf(w, "down in %.1f s\n", done.Seconds)
	return err
}

// running reports whether a fabric of this user's holds its socket.
func running() bool {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: controlName(), Net: "unix"})
	if err != nil {
		return false
	}
	c.Close()
	return true
}
