#!/usr/bin/env bash
# Guess: unix.SetsockoptInt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, rate) takes a rate of any size, as its argument is an
#        int of 64 bits and the kernel's rates have 64 bits, or refuses it.
# Seen:  the lowest 32 bits go to the kernel without an error. 40 Gbit/s (5,000,000,000 bytes a second) paces at 5.6
#        Gbit/s, 100 at 31.3; 2^32 is a rate of 0, and 2^32-1 is no limit. SetsockoptUint64 sets what is said.
# With:  Linux 6.18, golang.org/x/sys 0.49.0.
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
	"fmt"
	"log"

	"golang.org/x/sys/unix"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	must(err)
	kernel := func() uint64 {
		rate, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE)
		must(err)
		return rate
	}
	for _, rate := range []int{1_250_000_000, 5_000_000_000, 12_500_000_000, 1 << 32, 1<<32 - 1} {
		must(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, rate))
		fmt.Println(rate, kernel())
	}
	must(unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, 5_000_000_000))
	fmt.Println("by Uint64", kernel())
}
GO
[ "$(getconf LONG_BIT)" = 64 ] || { echo "needs a machine of 64 bits"; exit 77; }
same "bytes a second asked, and in the kernel" "$(go run .)" "1250000000 1250000000
5000000000 705032704
12500000000 3910065408
4294967296 0
4294967295 18446744073709551615
by Uint64 5000000000"
