#!/usr/bin/env bash
# Guess: writing a key that is in a full BPF_MAP_TYPE_LRU_HASH changes its value and evicts nothing.
# Seen:  the kernel takes a free element for the new value before it puts the old one back, and where none is free it
#        first evicts 128 others: a program that counts a flow by look-up and update throws out flows that it has yet
#        to report. Adding in place, through the pointer that the look-up returns, evicts none; a plain hash keeps all.
# With:  Linux 6.18, cilium/ebpf 0.22.0.
set -euo pipefail
modules=(github.com/cilium/ebpf@v0.22.0)

[ "$(id -u)" = 0 ] || { echo "needs root, for eBPF"; exit 77; }
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
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func count(m *ebpf.Map) (n int) {
	var key uint32
	var value uint64
	all := m.Iterate()
	for all.Next(&key, &value) {
		n++
	}
	must(all.Err())
	return n
}

// arguments puts the map and a pointer to the key of the newest entry where helpers take them.
func arguments(m *ebpf.Map) asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.RFP, -4, size-1, asm.Word),
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4),
	}
}

func inPlace(m *ebpf.Map) asm.Instructions {
	return append(arguments(m),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return())
}

func update(m *ebpf.Map) asm.Instructions {
	return append(append(asm.Instructions{
		asm.Mov.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, -16, asm.R1, asm.DWord)}, arguments(m)...),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, -16),
		asm.Mov.Imm(asm.R4, int32(ebpf.UpdateExist)),
		asm.FnMapUpdateElem.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return())
}

const size = 65536

func main() {
	for _, kind := range []ebpf.MapType{ebpf.LRUHash, ebpf.Hash} {
		m, err := ebpf.NewMap(&ebpf.MapSpec{Type: kind, KeySize: 4, ValueSize: 8, MaxEntries: size})
		must(err)
		for key := range uint32(size) {
			must(m.Put(key, uint64(0)))
		}
		fmt.Print(kind, " of ", count(m))
		for _, try := range []struct {
			name string
			is   asm.Instructions
		}{{"in place", inPlace(m)}, {"by update", update(m)}} {
			p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "GPL", Instructions: try.is})
			must(err)
			_, err = p.Run(&ebpf.RunOptions{Data: make([]byte, 64)})
			must(err)
			var value uint64
			must(m.Lookup(uint32(size-1), &value))
			fmt.Printf(", value %d %s: %d", value, try.name, count(m))
		}
		fmt.Print("; ")
	}
}
GO
go mod tidy 2>/dev/null
go build -o lru .
same "entries" "$(timeout 60 taskset -c 0 ./lru)" \
  "LRUHash of 65536, value 1 in place: 65536, value 1 by update: 65408; "\
"Hash of 65536, value 1 in place: 65536, value 1 by update: 65536; "
