package ebpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// Offsets into struct __sk_buff (linux/bpf.h).
const (
	skbProtocol = 16
	skbIfindex  = 40
	skbData     = 76
	skbDataEnd  = 80
	skbGSOSegs  = 164
)

// What a classifier answers.
const (
	actOK   = 0
	actShot = 2
)

// drop counts the packet, all segments of a large one, and ends it. R6 is the context, R9 the map's value.
func drop() asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R6, skbGSOSegs, asm.Word).WithSymbol("drop"),
		asm.JNE.Imm(asm.R1, 0, "count"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R9, asm.R1, asm.DWord, offDropped).WithSymbol("count"),
		asm.Mov.Imm(asm.R0, actShot),
		asm.Return(),
		asm.Mov.Imm(asm.R0, actOK).WithSymbol("pass"),
		asm.Return(),
		asm.Mov.Imm(asm.R2, 0).WithSymbol("send"), // R1 holds the interface
		asm.FnRedirect.Call(),
		asm.Return(),
	}
}

// index adds base + r×scale to the value's address in into; r is below n, which the verifier learns here.
func index(into, r asm.Register, n, base, shift int, beyond string) asm.Instructions {
	return asm.Instructions{
		asm.JGE.Imm(r, int32(n), beyond),
		asm.LSh.Imm(r, int32(shift)),
		asm.Mov.Reg(into, asm.R9),
		asm.Add.Reg(into, r),
		asm.Add.Imm(into, int32(base)),
	}
}

// packetProgram is a packet switch: hosts here by address, the rest by rack and tag, primary, else backup.
func packetProgram(l packetLayout, m *memory) asm.Instructions {
	route := "try0"
	if l.sources > 1 {
		route = "row"
	}
	p := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMapValue(asm.R9, m.m.FD(), 0),
		asm.LoadMem(asm.R1, asm.R6, skbProtocol, asm.Word),
		asm.JNE.Imm(asm.R1, int32(networkOrder16(unix.ETH_P_IP)), "pass"),
		asm.LoadMem(asm.R2, asm.R6, skbData, asm.Word),
		asm.LoadMem(asm.R3, asm.R6, skbDataEnd, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 34), // Ethernet and IPv4 headers
		asm.JGT.Reg(asm.R4, asm.R3, "drop"),
		asm.LoadMem(asm.R4, asm.R2, 26, asm.Word), // source
		asm.LoadMem(asm.R8, asm.R2, 15, asm.Byte), // TOS
		asm.RSh.Imm(asm.R8, 2),
		asm.And.Imm(asm.R8, southbound.Tags-1),
		asm.LoadMem(asm.R7, asm.R2, 30, asm.Word), // destination
		asm.HostTo(asm.BE, asm.R7, asm.Word),
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.RSh.Imm(asm.R1, 24),
		asm.JNE.Imm(asm.R1, 10, "drop"),
		asm.Mov.Reg(asm.R5, asm.R7),
		asm.RSh.Imm(asm.R5, 8),
		asm.And.Imm(asm.R5, 0xffff), // rack
		asm.JGE.Imm(asm.R5, int32(l.racks), "drop"),
		asm.Mov.Reg(asm.R1, asm.R5),
	}
	p = append(p, index(asm.R2, asm.R1, l.racks, l.homes, 2, "drop")...)
	p = append(p,
		asm.LoadMem(asm.R1, asm.R2, 0, asm.Word),
		asm.JEq.Imm(asm.R1, 0, route),
		asm.And.Imm(asm.R7, 0xff),
		asm.Add.Reg(asm.R1, asm.R7),
	)
	p = append(p, index(asm.R2, asm.R1, 256*(l.homed+1), l.locals, 2, "drop")...)
	p = append(p,
		asm.LoadMem(asm.R0, asm.R2, 0, asm.Word),
		asm.Ja.Label("primary"),
	)
	p = append(p, row(l)...)
	p = append(p, tries(l)...)
	p = append(p, choose(l)...)
	return append(p, drop()...)
}

// row makes R5 the row of the rule table: the rack's, or where rules name sources, that of the rack of
// address R4 to the rack.
func row(l packetLayout) asm.Instructions {
	if l.sources == 1 {
		return nil
	}
	return asm.Instructions{
		asm.HostTo(asm.BE, asm.R4, asm.Word).WithSymbol("row"),
		asm.Mov.Reg(asm.R1, asm.R4),
		asm.RSh.Imm(asm.R1, 24),
		asm.JNE.Imm(asm.R1, 10, "drop"),
		asm.RSh.Imm(asm.R4, 8),
		asm.And.Imm(asm.R4, 0xffff),
		asm.JGE.Imm(asm.R4, int32(l.sources), "drop"),
		asm.Mul.Imm(asm.R4, int32(l.racks)),
		asm.Add.Reg(asm.R5, asm.R4),
	}
}

// tries reads the rule word of (row R5, tag R8) into R0. The bank of generation g is written again only
// once g+2 stands; so a word read while the generation is still at most g+1 is of a whole table. Two
// tries: a packet that loses both has met four new tables in a microsecond. The second look at the
// generation depends on the word's address, so that no processor takes it first.
func tries(l packetLayout) asm.Instructions {
	var p asm.Instructions
	for i, next := range []string{"try1", "drop"} {
		p = append(p, asm.LoadMem(asm.R3, asm.R9, offGen, asm.DWord).WithSymbol(fmt.Sprintf("try%d", i)),
			asm.Mov.Reg(asm.R1, asm.R3),
			asm.Mod.Imm(asm.R1, banks),
			asm.JGE.Imm(asm.R1, banks, "drop"), // for the verifier
			asm.Mul.Imm(asm.R1, int32(l.cells())),
			asm.Mov.Reg(asm.R2, asm.R5),
			asm.LSh.Imm(asm.R2, 3),
			asm.Add.Reg(asm.R1, asm.R2),
			asm.Add.Reg(asm.R1, asm.R8),
		)
		p = append(p, index(asm.R2, asm.R1, banks*l.cells(), l.rules, 3, "drop")...)
		p = append(p, asm.LoadMem(asm.R0, asm.R2, 0, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R0),
			asm.And.Imm(asm.R1, 0),
			asm.Mov.Reg(asm.R2, asm.R9),
			asm.Add.Reg(asm.R2, asm.R1),
			asm.LoadMem(asm.R1, asm.R2, offGen, asm.DWord),
			asm.Sub.Reg(asm.R1, asm.R3),
			asm.JGT.Imm(asm.R1, 1, next),
		)
		if i == 0 {
			p = append(p, asm.Ja.Label("primary"))
		}
	}
	return p
}

// choose sends by the rule word in R0: out of its primary if that has light, else of its backup if that has.
func choose(l packetLayout) asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R0).WithSymbol("primary"),
		asm.LSh.Imm(asm.R1, 32),
		asm.RSh.Imm(asm.R1, 32),
	}
	p = append(p, wait(l)...)
	p = append(p, index(asm.R2, asm.R1, l.ports+1, l.links, 2, "drop")...)
	p = append(p,
		asm.LoadMem(asm.R1, asm.R2, 0, asm.Word),
		asm.JNE.Imm(asm.R1, 0, "send"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.RSh.Imm(asm.R1, 32),
	)
	p = append(p, index(asm.R2, asm.R1, l.ports+1, l.links, 2, "drop")...)
	return append(p,
		asm.LoadMem(asm.R1, asm.R2, 0, asm.Word),
		asm.JNE.Imm(asm.R1, 0, "send"),
	)
}

// opticalProgram is an OCS: whatever comes in goes out of the input's circuit once its instant has
// come. The output is read first and written last, so that no packet takes a new output with an old
// instant.
func opticalProgram(l opticalLayout, m *memory) asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMapValue(asm.R9, m.m.FD(), 0),
		asm.LoadMem(asm.R1, asm.R6, skbIfindex, asm.Word),
	}
	p = append(p, index(asm.R2, asm.R1, l.links, l.inputs, 2, "pass")...)
	p = append(p,
		asm.LoadMem(asm.R1, asm.R2, 0, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "pass"),
	)
	p = append(p, index(asm.R2, asm.R1, l.ports+1, l.bar, 4, "pass")...)
	p = append(p,
		asm.LoadMem(asm.R7, asm.R2, 8, asm.DWord), // output
		asm.JEq.Imm(asm.R7, 0, "drop"),
		asm.Mov.Reg(asm.R1, asm.R7), // the instant's address depends on the output
		asm.And.Imm(asm.R1, 0),
		asm.Add.Reg(asm.R2, asm.R1),
		asm.LoadMem(asm.R8, asm.R2, 0, asm.DWord), // lit after
		asm.FnKtimeGetNs.Call(),
		asm.JLT.Reg(asm.R0, asm.R8, "drop"),
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.Ja.Label("send"),
	)
	return append(p, drop()...)
}

func load(name string, p asm.Instructions) (*ebpf.Program, error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.SchedCLS, Instructions: p,
		License: "Apache-2.0"})
	if err != nil {
		return nil, fmt.Errorf("load program %q: %w", name, err)
	}
	return prog, nil
}
