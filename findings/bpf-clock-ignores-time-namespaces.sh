#!/usr/bin/env bash
# Guess: bpf_ktime_get_ns is the CLOCK_MONOTONIC of the process that loads and runs the program, so instants can be
#        handed over as they are.
# Seen:  it is the first time namespace's. In a time namespace with a monotonic offset of 100,000 s the process is
#        100,000 s ahead of its own program; without one they agree.
# With:  Linux 6.18, cilium/ebpf 0.22.0.
set -euo pipefail
modules=(github.com/cilium/ebpf@v0.22.0 golang.org/x/sys@v0.49.0)

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

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

func main() {
	clock, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		log.Fatal(err)
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, License: "GPL",
		Instructions: asm.Instructions{
			asm.FnKtimeGetNs.Call(),
			asm.StoreMem(asm.RFP, -8, asm.R0, asm.DWord),
			asm.StoreImm(asm.RFP, -16, 0, asm.Word),
			asm.LoadMapPtr(asm.R1, clock.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -16),
			asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, -8),
			asm.Mov.Imm(asm.R4, 0),
			asm.FnMapUpdateElem.Call(),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}})
	if err != nil {
		log.Fatal(err)
	}
	var here unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &here); err != nil {
		log.Fatal(err)
	}
	if _, _, err := program.Test(make([]byte, 64)); err != nil {
		log.Fatal(err)
	}
	var there uint64
	if err := clock.Lookup(uint32(0), &there); err != nil {
		log.Fatal(err)
	}
	fmt.Println((here.Nano() - int64(there) + 5e9) / 10e9 * 10) // whole tens of seconds
}
GO
go build -o clock .
unshare --time true 2>/dev/null || { echo "needs a kernel with time namespaces"; exit 77; }
same "seconds that the process is ahead" "$(./clock)" 0
same "and in a time namespace" "$(unshare --time --monotonic 100000 --fork ./clock)" 100000
