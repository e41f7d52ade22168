package gnmi_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// between is a connection's middle: once frozen, it takes what is sent and passes nothing on, as a
// cable that is cut far away does.
func between(t *testing.T, addr string) (proxy string, freeze func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	frozen := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, c)
	}
	pump := func(to io.Writer, from io.Reader) {
		defer wg.Done()
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			select {
			case <-frozen:
				continue
			default:
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			keep(a)
			b, err := net.Dial("tcp", addr)
			if err != nil {
				continue
			}
			keep(b)
			wg.Add(2)
			go pump(b, a)
			go pump(a, b)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String(), func() { close(frozen) }
}
