#!/usr/bin/env bash
# Guess: netns.Get returns the network namespace of the calling thread.
# Seen:  it opens /proc/PID/task/TID/ns/net by numbers. In a new process namespace that still has the outer /proc
#        these are another process's: Get returns that one's namespace without an error. So does whatever is built on
#        it, as netlink.NewHandleAt, which "returns" there. /proc/thread-self is right.
# With:  Linux 6.18, vishvananda/netns 0.0.5.
set -euo pipefail
modules=(github.com/vishvananda/netns@v0.0.5 golang.org/x/sys@v0.49.0)

[ "$(id -u)" = 0 ] || { echo "needs root, for namespaces and eBPF"; exit 77; }
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
	"os"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

func init() { runtime.LockOSThread() } // main stays on the first thread, whose id is the process's

func main() {
	got, err := netns.Get()
	if err != nil {
		log.Fatal(err)
	}
	var is, other, own unix.Stat_t
	if err := unix.Fstat(int(got), &is); err != nil {
		log.Fatal(err)
	}
	if err := unix.Stat("/proc/thread-self/ns/net", &own); err != nil {
		log.Fatal(err)
	}
	if err := unix.Stat(os.Args[1], &other); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("own %t, another's %t", is.Ino == own.Ino, is.Ino == other.Ino)
}
GO
go build -o get .
# The outer process namespace is made here too, so that process 1, whom Get finds, is one of this script's.
cat >outer <<'SH'
exec 3</proc/self/ns/net
with() { unshare --pid --fork --net "$@" ./get /proc/self/fd/3; }
echo "$(with) with the outer /proc; $(with --mount-proc) with its own"
SH
seen=$(timeout 60 unshare --pid --fork --net --mount-proc bash outer)
same "netns.Get" "$seen" "own false, another's true with the outer /proc; own true, another's false with its own"
