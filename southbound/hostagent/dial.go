package hostagent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

const (
	dialTimeout  = 3 * time.Second
	greetTimeout = 3 * time.Second
)

// listenAt opens a listener whose connections answer at the highest priority: acknowledgements that
// wait in the queues of host flows would slow the host flows they acknowledge.
func listenAt(ctx context.Context, at netip.AddrPort) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		ctlErr := c.Control(func(fd uintptr) { err = setTOS(int(fd), controlPriority, southbound.TagDefault) })
		if ctlErr != nil {
			return ctlErr
		}
		return err
	}}
	lc.SetMultipathTCP(false)
	return lc.Listen(ctx, "tcp4", at.String())
}

// dial makes a connection between two hosts. Only the making of the socket happens inside the host: the
// handshake needs no thread of its own.
func (a *Agent) dial(src, dst southbound.HostID) (*os.File, error) {
	fd := -1
	a.bounds.doors <- struct{}{}
	err := a.cfg.Net.InHost(src, func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	})
	<-a.bounds.doors
	if err != nil {
		return nil, fmt.Errorf("make socket in host %d: %w", src, err)
	}
	if err := prepareSender(fd, a.cfg.Congestion, a.mss); err != nil {
		unix.Close(fd)
		return nil, err
	}
	to := a.net().addr[dst]
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()),
		Addr: to.Addr().Unmap().As4()}); err != nil &&
		err != unix.EINPROGRESS {
		unix.Close(fd)
		return nil, fmt.Errorf("connect to host %d at %v: %w", dst, to, err)
	}
	f := os.NewFile(uintptr(fd), "host flow")
	if err := connected(a.ctx, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("connect to host %d at %v: %w", dst, to, err)
	}
	return f, nil
}

// connected waits for the end of a handshake that has begun.
func connected(ctx context.Context, f *os.File) error {
	defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if err := f.SetWriteDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	if ctx.Err() != nil { // the deadline just set may have come after the one of ctx
		return ctx.Err()
	}
	var soErr error
	err = raw.Write(func(fd uintptr) bool {
		code, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil || code != 0 {
			soErr = syscall.Errno(code)
			return true
		}
		_, err = unix.Getpeername(int(fd))
		return err == nil
	})
	if err != nil {
		return err
	}
	if soErr != nil {
		return soErr
	}
	return f.SetWriteDeadline(time.Time{})
}
