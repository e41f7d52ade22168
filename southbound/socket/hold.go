package socket

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/sys/unix"
)

// Hold reserves a free TCP port of 127.0.0.1 for a process that will listen there later, and again
// after a crash. It binds a socket to the port without listening: the kernel then assigns the port to
// no other socket, but a process can still listen there with SO_REUSEADDR, as package net does. release
// frees the port; a second call does nothing.
func Hold() (at netip.AddrPort, release func() error, err error) {
	fail := func(err error) (netip.AddrPort, func() error, error) {
		return netip.AddrPort{}, nil, fmt.Errorf("hold a free port: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	host := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.Bind(fd, &unix.SockaddrInet4{Addr: host.As4()})); err != nil {
		return fail(errors.Join(err, unix.Close(fd)))
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fail(errors.Join(err, unix.Close(fd)))
	}
	in, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return fail(errors.Join(fmt.Errorf("it is bound to a %T", name), unix.Close(fd)))
	}
	return netip.AddrPortFrom(host, uint16(in.Port)), sync.OnceValue(func() error { return unix.Close(fd) }), nil
}
