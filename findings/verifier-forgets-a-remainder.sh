#!/usr/bin/env bash
# Guess: the BPF verifier knows that x % 3 is below 3 and x % 4 below 4, as it knows that x & 3 is below 4, so that
#        either can be an index into a table.
# Seen:  it knows it of & only: after % the value is unbounded, and the program is refused ("unbounded min value"). A
#        comparison that can never fail, `if x >= 3 drop`, behind the % makes it pass.
# With:  Linux 6.18, cilium/ebpf 0.22.0.
set -euo pipefail
modules=(github.com/cilium/ebpf@v0.22.0)

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
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

func main() {
	table, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 64, MaxEntries: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, try := range []struct {
		name string
		is   asm.Instructions
	}{
		{"x & 3", asm.Instructions{asm.And.Imm(asm.R7, 3)}},
		{"x % 4", asm.Instructions{asm.Mod.Imm(asm.R7, 4)}},
		{"x % 3", asm.Instructions{asm.Mod.Imm(asm.R7, 3)}},
		{"x % 3 and a comparison", asm.Instructions{asm.Mod.Imm(asm.R7, 3), asm.JGE.Imm(asm.R7, 3, "out")}},
	} {
		is := asm.Instructions{asm.FnGetPrandomU32.Call(), asm.Mov.Reg(asm.R7, asm.R0)}
		is = append(is, try.is...)
		is = append(is,
			asm.StoreImm(asm.RFP, -8, 0, asm.Word),
			asm.LoadMapPtr(asm.R1, table.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "out"),
			asm.Add.Reg(asm.R0, asm.R7),
			asm.LoadMem(asm.R0, asm.R0, 0, asm.Byte),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return())
		_, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "GPL", Instructions: is})
		switch {
		case err == nil:
			fmt.Printf("%s passes; ", try.name)
		case strings.Contains(fmt.Sprintf("%+v", err), "unbounded m"):
			fmt.Printf("%s is unbounded; ", try.name)
		default:
			fmt.Printf("%s: %+v; ", try.name, err)
		}
	}
}
GO
same "verifier" "$(go run .)" \
  "x & 3 passes; x % 4 is unbounded; x % 3 is unbounded; x % 3 and a comparison passes; "
