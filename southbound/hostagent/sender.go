package hostagent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// want is how a sender is to send.
type want struct {
	rate float64 // payload bytes a second; 0 holds
	fair bool    // rate is only a bound: TCP shares below it
	prio uint8
	tag  southbound.Tag

	circuit bool // tag is one's
}

// sender sends one host flow, over as many connections as it takes.
type sender struct {
	a    *Agent
	b    *hostFlow // only what never changes of it is read without the agent's lock
	salt int64
	wake chan struct{}
	ctx  context.Context // ends with the agent, or when the host flow is void
	stop context.CancelFunc

	gate     atomic.Pointer[sendLimits]
	written  atomic.Int64 // payload given to the socket
	measured atomic.Uint64

	mu    sync.Mutex
	want  want
	raw   syscall.RawConn // nil while there is no connection
	conn  *os.File        // likewise
	moved bool            // this connection is given up for one that takes a circuit
}

func newSender(a *Agent, b *hostFlow, w want) *sender {
	s := &sender{a: a, b: b, salt: salt(b.key), wake: make(chan struct{}, 1), want: w}
	s.ctx, s.stop = context.WithCancel(a.ctx)
	g := sendLimitsFor(w, 0)
	s.gate.Store(&g)
	return s
}

// set takes a new wish. It is in force when set returns, but for bytes that the socket holds already.
func (s *sender) set(w want) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.want
	s.want = w
	s.apply(old)
}

// apply brings socket and limits to s.want. To a slower path pacing goes first, else its queue would
// fill; to a faster one the tag, else the slower would.
func (s *sender) apply(old want) {
	g := sendLimitsFor(s.want, math.Float64frombits(s.measured.Load()))
	before := *s.gate.Load()
	s.gate.Store(&g)
	switch {
	case s.raw != nil && s.overtakes(old):
		s.moved = true
		_ = s.conn.SetDeadline(time.Unix(1, 0)) // a closed one has ended already
	case s.raw != nil:
		_ = s.raw.Control(func(fd uintptr) { // a closed socket has nothing to bring anywhere
			if s.want.rate < old.rate {
				s.applyPacing(int(fd), before, g)
				s.applyTag(int(fd), old)
			} else {
				s.applyTag(int(fd), old)
				s.applyPacing(int(fd), before, g)
			}
		})
	}
	if g.open != before.open || g.gap || before.gap {
		notify(s.wake)
	}
}

// overtakes reports whether what is sent from now on would overtake what is on its way: on a circuit,
// before what waits in queues of packets. TCP acknowledges nothing until that has come, and keeps the
// pace of the old path: ten milliseconds and more of a circuit were lost. A new connection asks the
// receiver where to go on.
func (s *sender) overtakes(old want) bool {
	if !s.want.circuit || old.circuit || s.moved {
		return false
	}
	waits := 0
	_ = s.raw.Control(func(fd uintptr) { waits, _ = inFlight(int(fd)) })
	return waits > 0
}

func (s *sender) applyPacing(fd int, before, g sendLimits) {
	if !g.open {
		return // nothing is written: what the socket holds may go
	}
	if g.pacing != before.pacing {
		s.complain("pace", setPacing(fd, g.pacing))
	}
	if g.unsent != before.unsent {
		s.complain("bound unsent bytes of", setUnsent(fd, g.unsent))
	}
}

func (s *sender) applyTag(fd int, old want) {
	if (s.want.tag != old.tag || s.want.prio != old.prio) && s.want.tag != southbound.TagHold {
		s.complain("tag", setTOS(fd, s.want.prio, s.want.tag))
	}
}

func (s *sender) complain(verb string, err error) {
	if err != nil {
		s.a.cfg.Log.Warn(verb+" host flow", "coflow", s.b.key.Coflow, "row", s.b.key.Row, "error", err)
	}
}

// attach makes a connection the sender's, with everything set on it as it should be now.
func (s *sender) attach(f *os.File, raw syscall.RawConn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.raw = f, raw
	g := *s.gate.Load()
	var err error
	ctlErr := raw.Control(func(fd uintptr) {
		tag := s.want.tag
		if tag == southbound.TagHold {
			tag = southbound.TagDefault
		}
		err = setTOS(int(fd), s.want.prio, tag)
		if g.open { // else opening it sets the rest
			err = errors.Join(err, setPacing(int(fd), g.pacing), setUnsent(int(fd), g.unsent))
		}
	})
	return errors.Join(ctlErr, err)
}

// detach takes the connection away, and reports whether it was given up for one that takes a circuit.
func (s *sender) detach() (moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	moved = s.moved
	s.conn, s.raw, s.moved = nil, nil, false
	return moved
}

// left is the payload that the other end has not acknowledged; false while there is no connection.
func (s *sender) left() (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw == nil {
		return 0, false
	}
	var n int
	var err error
	written := s.written.Load()
	if ctlErr := s.raw.Control(func(fd uintptr) { n, err = unacked(int(fd)) }); ctlErr != nil || err != nil {
		return 0, false
	}
	return min(max(s.b.size-written+int64(n), 0), s.b.size), true
}

// observe takes the rate at which bytes have lately been acknowledged, by which buffers of a fair
// sender are measured.
func (s *sender) observe(rate float64) {
	old := math.Float64frombits(s.measured.Load())
	now := old + (max(rate, 0)-old)/4
	s.measured.Store(math.Float64bits(now))
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := sendLimitsFor(s.want, now); s.want.fair && g.open && !g.near(*s.gate.Load()) {
		s.apply(s.want)
	}
}

const (
	redialFirst = 10 * time.Millisecond
	redialMost  = 500 * time.Millisecond
)

// run sends until the receiver has everything, or the agent ends.
func (s *sender) run() {
	defer s.stop()
	for again, wait := false, redialFirst; ; again, wait = true, min(2*wait, redialMost) {
		before := s.written.Load()
		err := s.connection(again)
		moved := s.detach()
		switch {
		case err == nil:
			s.a.sent(s.b)
			return
		case s.ctx.Err() != nil:
			return
		case moved:
			wait = redialFirst / 2
			continue
		}
		s.a.cfg.Log.Warn("send host flow", "coflow", s.b.key.Coflow, "row", s.b.key.Row, "from",
			s.b.src, "to", s.b.dst,
			"error",
			err)
		s.a.stats.redials.Add(1)
		if s.written.Load() > before {
			wait = redialFirst
		}
		pause(s.ctx, wait)
	}
}

// connection carries the host flow over one connection; nil means that the receiver has all of it.
func (s *sender) connection(again bool) error {
	f, err := s.a.dial(s.b.src, s.b.dst)
	if err != nil {
		return err
	}
	defer f.Close()
	defer context.AfterFunc(s.ctx, func() { f.Close() })()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	s.a.stats.connections.Add(1)
	defer s.retire(raw)
	offset, err := s.greet(f, raw, again)
	if err != nil || offset == s.b.size {
		return err
	}
	s.written.Store(offset)
	if err := s.attach(f, raw); err != nil {
		return fmt.Errorf("set up socket: %w", err)
	}
	if err := s.pump(raw); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	r, err := readReplyFrom(f, s.b.size)
	if err == nil && r.verdict != done {
		err = fmt.Errorf("the receiver answers %q at byte %d", byte(r.verdict), r.offset)
	}
	return err
}

// greet sends the header of a host flow, and returns the offset to send from: the start at first, later
// the receiver's answer.
func (s *sender) greet(f *os.File, raw syscall.RawConn, ask bool) (int64, error) {
	h := header{key: s.b.key, size: s.b.size, src: s.b.src, dst: s.b.dst, ask: ask}
	msg := h.appendTo(nil, s.a.cfg.Key)
	more := unix.MSG_MORE // goes with the first bytes
	if ask {
		more = 0
	}
	var err error
	if ctlErr := raw.Control(func(fd uintptr) {
		err = unix.Send(int(fd), msg, more|unix.MSG_NOSIGNAL)
	}); ctlErr != nil || err != nil {
		return 0, fmt.Errorf("greet: %w", errors.Join(ctlErr, err))
	}
	if !ask {
		return 0, nil
	}
	if err := f.SetReadDeadline(time.Now().Add(greetTimeout)); err != nil {
		return 0, fmt.Errorf("greet: %w", err)
	}
	r, err := readReplyFrom(f, s.b.size)
	if err != nil {
		return 0, err
	}
	if r.verdict == refused {
		return 0, errors.New("the receiver refuses the host flow")
	}
	if r.verdict == done {
		return s.b.size, nil
	}
	return r.offset, f.SetReadDeadline(time.Time{})
}

// retire counts what the connection sent again, and lets its end leave nothing behind.
func (s *sender) retire(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		n := countsOf(int(fd))
		s.a.stats.retransmissions.Add(n.Retransmitted)
		s.a.stats.reordered.Add(n.Reordered)
		s.a.stats.marked.Add(n.Marked)
		s.a.retired(s.b, n)
		_ = abort(int(fd))
	})
}

func readReplyFrom(f *os.File, size int64) (reply, error) {
	var buf [replyBytes]byte
	for n := 0; n < len(buf); {
		m, err := f.Read(buf[n:])
		if err != nil {
			return reply{}, fmt.Errorf("read reply: %w", err)
		}
		n += m
	}
	return readReply(buf[:], size)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits for d, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
