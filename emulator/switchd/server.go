package switchd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound/pki"
)

// server is the gNMI server of the switch from one power-on to the next power-off. The goroutine that
// takes it out of Switch.waiting ends it.
type server struct {
	target speaker
	ln     net.Listener
	off    chan struct{} // closed: the power goes
	gone   chan struct{} // closed: it answers no more
}

// speaker is what answers at the switch's address: a gNMI target, or a RESTCONF server.
type speaker interface {
	Serve(ctx context.Context, l net.Listener) error
	Refresh()
	Lag() (streams, leaves int)
	Close()
}

// Open puts a gNMI target in front of the switch, once. It owns l from now on. With an identity it
// serves controllers over TLS, with the zero one in plaintext, unless c has TLS. The switch and the
// logger of c are filled in.
func (s *Switch) Open(l net.Listener, id pki.Identity, c target.Config) error {
	c.Door, c.Remote, c.Log, c.Plaintext = s.Door, s.backend, s.cfg.Log, id.IsZero() && c.TLS == nil
	if !id.IsZero() && c.TLS == nil {
		c.TLS = id.Server(pki.Controller)
	}
	s.target, s.addr = c, l.Addr()
	return s.open(l)
}

func (s *Switch) open(l net.Listener) error {
	t, err := s.speaker()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	v := &server{target: t, ln: l, off: make(chan struct{}), gone: make(chan struct{})}
	s.current.Store(v)
	s.waiting <- v
	return nil
}

func (s *Switch) speaker() (speaker, error) {
	switch {
	case !s.target.RESTCONF:
		return target.New(s.target)
	case s.Door == nil || s.cfg.Device.Kind != device.Optical:
		return nil, errors.New("RESTCONF is of emulated optical switches")
	}
	return target.NewRESTCONF(s.target, s.cfg.Device.Ports), nil
}

// serve serves whatever is opened until ctx ends.
func (s *Switch) serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case v := <-s.waiting:
			if err := v.serve(ctx); err != nil {
				return err
			}
		}
	}
}

func (v *server) serve(ctx context.Context) error {
	defer close(v.gone)
	defer v.target.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-v.off:
			cancel()
		case <-ctx.Done():
		}
	}()
	return v.target.Serve(ctx, v.ln)
}

// Power turns the switch's power off or on. Without power connections break and nothing answers at its
// address; with power the switch listens there again, and takes boot to start.
func (s *Switch) Power(ctx context.Context, on bool, boot time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Door.Do(func(now time.Duration, d *device.Device) { d.Power(now, on, boot) })
	if !on {
		return s.end(ctx)
	}
	l, err := net.Listen(s.addr.Network(), s.addr.String())
	if err != nil {
		return fmt.Errorf("listen for %s again: %w", s.Name(), err)
	}
	return s.open(l)
}

// end ends the server, if one runs, and waits until it is gone.
func (s *Switch) end(ctx context.Context) error {
	v := s.current.Swap(nil)
	if v == nil || s.discard() {
		return nil
	}
	close(v.off)
	select {
	case <-v.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close closes what Open has opened and Run has not served.
func (s *Switch) Close() { s.discard() }

// discard closes a server that waits for Run. It reports whether one did.
func (s *Switch) discard() bool {
	select {
	case v := <-s.waiting:
		v.target.Close()
		_ = v.ln.Close()
		return true
	default:
		return false
	}
}

// Refresh reports to subscribers the neighbours that have come or gone.
func (s *Switch) Refresh() {
	if v := s.current.Load(); v != nil {
		v.target.Refresh()
	}
}

// Lag is how many streams the target serves, and by how many leaves they lag behind.
func (s *Switch) Lag() (streams, leaves int) {
	if v := s.current.Load(); v != nil {
		return v.target.Lag()
	}
	return 0, 0
}
