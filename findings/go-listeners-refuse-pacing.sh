#!/usr/bin/env bash
# Guess: what net.Listen("tcp", …) opens is a TCP socket, which takes TCP's options: SO_MAX_PACING_RATE to pace what
#        it accepts, TCP_USER_TIMEOUT to end that when a path is dark.
# Seen:  since Go 1.24 it is an MPTCP socket where the kernel has MPTCP, and that refuses both, while it takes IP_TOS,
#        SO_PRIORITY and TCP_NODELAY. What is accepted from a TCP client is plain TCP, and takes all.
# With:  Linux 6.18, Go 1.26.
set -euo pipefail
modules=(golang.org/x/sys@v0.49.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

func try(c syscall.RawConn) {
	_ = c.Control(func(fd uintptr) {
		for _, o := range []struct {
			name              string
			level, opt, value int
		}{
			{"pacing", unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, 1_000_000},
			{"timeout", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 5000},
			{"tos", unix.IPPROTO_IP, unix.IP_TOS, 0x20},
			{"priority", unix.SOL_SOCKET, unix.SO_PRIORITY, 3},
			{"nodelay", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		} {
			err := unix.SetsockoptInt(int(fd), o.level, o.opt, o.value)
			switch {
			case err == nil:
				fmt.Printf(" %s", o.name)
			case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOPROTOOPT):
				fmt.Printf(" no-%s", o.name)
			default:
				log.Fatal(o.name, err)
			}
		}
	})
}

func main() {
	for _, multipath := range []bool{true, false} {
		lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			fmt.Print("; listener")
			try(c)
			return nil
		}}
		if !multipath {
			lc.SetMultipathTCP(false)
		}
		l, err := lc.Listen(context.Background(), "tcp4", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		if _, err := net.Dial("tcp4", l.Addr().String()); err != nil {
			log.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print("; accepted")
		try(raw)
	}
}
GO
grep -qs 1 /proc/sys/net/mptcp/enabled || { echo "needs a kernel with MPTCP"; exit 77; }
all="pacing timeout tos priority nodelay"
same "takes" "$(go run .)" \
  "; listener no-pacing no-timeout tos priority nodelay; accepted $all; listener $all; accepted $all"
