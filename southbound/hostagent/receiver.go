package hostagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// receiver counts what has come of one host flow. Connections come and go; one at a time may add to it.
type receiver struct {
	salt, size int64

	mu       sync.Mutex
	received int64
	conn     net.Conn // the one that may add
}

// wakeBytes is how much must wait before a receiver is woken: it halves the cost of receiving.
const wakeBytes = 64 << 10

var errSuperseded = errors.New("another connection carries the host flow now")

// accept takes connections until the agent ends.
func (a *Agent) accept(ln net.Listener) {
	defer context.AfterFunc(a.ctx, func() { ln.Close() })()
	defer ln.Close()
	for a.ctx.Err() == nil {
		select {
		case a.bounds.greet <- struct{}{}:
		case <-a.ctx.Done():
			return
		}
		conn, err := ln.Accept()
		if err != nil {
			<-a.bounds.greet
			pause(a.ctx, redialFirst) // out of descriptors, perhaps; a closed listener comes with the end of ctx
			continue
		}
		a.done.Go(func() { a.serve(conn.(*net.TCPConn)) })
	}
}

// serve receives over one connection.
func (a *Agent) serve(conn *net.TCPConn) {
	defer conn.Close()
	defer context.AfterFunc(a.ctx, func() { conn.Close() })()
	h, err := a.greeting(conn)
	<-a.bounds.greet
	if err == nil {
		err = a.receive(conn, h)
	}
	if err != nil && a.ctx.Err() == nil {
		a.cfg.Log.Warn("receive host flow", "from", conn.RemoteAddr(), "coflow", h.key.Coflow, "row",
			h.key.Row, "error", err)
	}
}

func (a *Agent) greeting(conn *net.TCPConn) (header, error) {
	var buf [headerBytes]byte
	if err := conn.SetReadDeadline(time.Now().Add(greetTimeout)); err != nil {
		return header{}, err
	}
	if _, err := io.ReadFull(conn, buf[:]); err != nil {
		a.stats.refused.Add(1)
		return header{}, fmt.Errorf("read header: %w", err)
	}
	h, err := readHeader(buf[:], a.cfg.Key)
	if err != nil {
		a.stats.refused.Add(1)
		return h, err
	}
	return h, conn.SetReadDeadline(time.Time{})
}

func (a *Agent) receive(conn *net.TCPConn, h header) error {
	b, r, err := a.claim(h)
	if err != nil {
		a.stats.refused.Add(1)
		return errors.Join(err, answer(conn, reply{verdict: refused}))
	}
	if r == nil { // over since long
		return farewell(conn, h.size)
	}
	a.drain(r)
	offset := r.take(conn)
	switch {
	case offset == r.size:
		a.taken(b)
		return farewell(conn, r.size)
	case h.ask:
		err = answer(conn, reply{verdict: goOn, offset: offset})
	case offset != 0:
		err = fmt.Errorf("begins at byte 0, and %d is the next", offset)
	}
	if err != nil {
		return err
	}
	if err := a.drink(conn, r); err != nil {
		if errors.Is(err, errSuperseded) || !r.takes(conn) { // closed while it was read, perhaps
			return nil
		}
		return err
	}
	a.taken(b)
	return farewell(conn, r.size)
}

// claim finds the host flow that a header speaks of; a nil receiver means that it is over.
func (a *Agent) claim(h header) (*hostFlow, *receiver, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ended := a.table.known(h.key.Coflow); ended {
		return nil, nil, nil
	}
	b := a.table.row(h.key)
	switch {
	case b == nil:
		return nil, nil, errors.New("the host flow is not known")
	case b.size != h.size || b.src != h.src || b.dst != h.dst || !a.isLocal(h.dst):
		return nil, nil, errors.New("the host flow is another than the one declared")
	case b.void:
		return nil, nil, errors.New("one of its hosts has failed")
	case b.in == nil:
		b.in = &receiver{salt: salt(b.key), size: b.size}
	}
	return b, b.in, nil
}

// take makes conn the one that may add, and returns the next byte's place. The one before is closed
// without the lock: its reader may be waiting for it, and closing waits for the reader.
func (r *receiver) take(conn net.Conn) int64 {
	r.mu.Lock()
	before, next := r.conn, r.received
	r.conn = conn
	r.mu.Unlock()
	if before != nil {
		before.Close()
	}
	return next
}

// takes reports whether conn is the one that may add.
func (r *receiver) takes(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conn == conn
}

// drain reads what the connection so far has brought and nobody was woken for: its sender need not send
// that again.
func (a *Agent) drain(r *receiver) {
	r.mu.Lock()
	conn, ok := r.conn.(*net.TCPConn)
	r.mu.Unlock()
	if !ok {
		return
	}
	if raw, err := conn.SyscallConn(); err == nil {
		low := 0
		_ = raw.Control(func(fd uintptr) { _, _ = a.sip(int(fd), conn, r, &low) }) // its own reader meets what is wrong
	}
}

// leave ends what a receiver takes, and returns the connection that it had.
func (r *receiver) leave() net.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	conn := r.conn
	r.conn = nil
	return conn
}

// buffer is what one read fills. It is held for the length of the read, so that few are in use and stay
// in the cache.
type buffer [maxChunk / 2]byte

// drink reads until the last byte has come.
func (a *Agent) drink(conn *net.TCPConn, r *receiver) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	low := 0
	var readErr error
	waitErr := raw.Read(func(fd uintptr) bool {
		var again bool
		again, readErr = a.sip(int(fd), conn, r, &low)
		return !again
	})
	return errors.Join(readErr, waitErr)
}

// sip reads what is there. again means that nothing more is, and bytes are missing.
func (a *Agent) sip(fd int, conn net.Conn, r *receiver, low *int) (again bool, err error) {
	buf := a.buffers.Get().(*buffer)
	defer a.buffers.Put(buf)
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.conn != conn {
			return false, errSuperseded
		}
		rest := r.size - r.received
		if want := int(min(rest, wakeBytes)); want != *low && rest > 0 {
			if err := setWake(fd, want); err != nil {
				return false, fmt.Errorf("set wake-up mark: %w", err)
			}
			*low = want
		}
		if rest == 0 {
			return false, nil
		}
		n, err := unix.Read(fd, buf[:min(rest, int64(len(buf)))])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return true, nil
		case err != nil:
			return false, fmt.Errorf("read: %w", err)
		case n == 0:
			return false, fmt.Errorf("read: the sender left at byte %d of %d", r.received, r.size)
		case !a.pattern.match(r.salt, r.received, buf[:n]):
			a.stats.corrupt.Add(1)
			return false, fmt.Errorf("bytes %d to %d of %d are not what was sent", r.received,
				r.received+int64(n), r.size)
		default:
			r.received += int64(n)
			a.stats.received.Add(int64(n))
		}
	}
}

func answer(conn net.Conn, r reply) error {
	if err := conn.SetWriteDeadline(time.Now().Add(greetTimeout)); err != nil {
		return err
	}
	_, err := conn.Write(r.append(nil))
	return err
}

// farewell reports the end of the host flow to the sender and lets it close first.
func farewell(conn *net.TCPConn, size int64) error {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = setWake(int(fd), 1) })
	}
	if err := answer(conn, reply{verdict: done, offset: size}); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(greetTimeout)); err != nil {
		return err
	}
	var b [1]byte
	if _, err := conn.Read(b[:]); err == nil {
		return errors.New("bytes come after the last")
	}
	return nil // the sender closed, reset or is slow: it has got the answer
}
