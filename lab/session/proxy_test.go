package session

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestServeOneEnds: a call that streams does not keep the fabric from ending.
func TestServeOneEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	here, there := net.Pipe()
	defer there.Close()
	streams, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		serveOne(ctx, here, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(streams)
			<-r.Context().Done()
		}))
	}()
	if _, err := io.WriteString(there, "GET / HTTP/1.1\r\nHost: local\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-streams
	cancel()
	<-done // or the test's deadline
}
