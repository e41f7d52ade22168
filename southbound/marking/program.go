package marking

import (
	"encoding/binary"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// depth is how far below the root of cgroups a rule can be.
const depth = 16

// next has the next program of the interface look at a packet.
const next = -1

// Offsets in a packet, into struct __sk_buff (linux/bpf.h), and below the frame pointer: the key, then
// the first two bytes of the IPv4 header as they came and as they go.
const (
	ipStart, ipChecksum, ipDst = 14, 24, 30
	skbProtocol                = 16
	keyAt, idAt, toAt          = -24, -16, -8
	cameAt, goesAt             = -4, -2
)

// fixedBits are the bits of a key before its address: four bytes of nothing, for alignment, and the cgroup.
const fixedBits = 32 + 64

type (
	// key is what rules are found by, as the kernel's table of longest prefixes has it.
	key struct {
		Bits   uint32
		_      uint32
		Cgroup uint64
		To     [4]byte
	}
	// value is what a rule does, and has done.
	value struct {
		Packets uint64
		TOS     uint64
	}
)

func keyOf(r Rule, id uint64) key {
	return key{Bits: fixedBits + uint32(r.To.Bits()), Cgroup: id, To: r.To.Addr().As4()}
}

func newTable() (*ebpf.Map, error) {
	return ebpf.NewMap(&ebpf.MapSpec{Name: "ll_marks", Type: ebpf.LPMTrie, KeySize: uint32(binary.Size(key{})),
		ValueSize: uint32(binary.Size(value{})), MaxEntries: maxRules, Flags: unix.BPF_F_NO_PREALLOC})
}

// program looks for a rule of the packet's cgroup, then of those above it. What finds none goes on
// unchanged.
func program(table *ebpf.Map) asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, skbProtocol, asm.Word),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.JNE.Imm(asm.R1, unix.ETH_P_IP, "next"),
	}
	p = append(p, read(ipStart, cameAt, 2)...)
	p = append(p, read(ipDst, toAt, 4)...)
	p = append(p,
		asm.StoreImm(asm.RFP, keyAt, fixedBits+32, asm.Word),
		asm.StoreImm(asm.RFP, keyAt+4, 0, asm.Word),
	)
	for level := depth; level > 0; level-- {
		p = append(p, lookup(table, level)...)
	}
	p = append(p, asm.Ja.Label("next"))
	p = append(p, mark()...)
	return append(p,
		asm.Mov.Imm(asm.R0, next).WithSymbol("next"),
		asm.Return(),
	)
}

// read copies bytes of the packet in R6 to the stack.
func read(from, to, n int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, from),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, to),
		asm.Mov.Imm(asm.R4, n),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"),
	}
}

// lookup jumps to "mark" with the value in R0 if the cgroup at a level has a rule.
func lookup(table *ebpf.Map, level int) asm.Instructions {
	above := asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, int32(level)),
		asm.FnSkbAncestorCgroupId.Call(),
		asm.StoreMem(asm.RFP, idAt, asm.R0, asm.DWord),
		asm.JEq.Imm(asm.R0, 0, at(level-1)), // not as deep as that, or of no process
		asm.LoadMapPtr(asm.R1, table.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, keyAt),
		asm.FnMapLookupElem.Call(),
		asm.JNE.Imm(asm.R0, 0, "mark"),
	}
	above[0] = above[0].WithSymbol(at(level))
	return above
}

// at is the label of a level; the root has none, so that it cannot be named by mistake.
func at(level int) string {
	if level == 0 {
		return "next"
	}
	return "level" + string(rune('a'+level))
}

// mark counts the packet at the value in R0, and gives its header the value's six bits of DSCP; the two
// bits of ECN stay.
func mark() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, 1).WithSymbol("mark"),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.LoadMem(asm.R7, asm.R0, 8, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, cameAt+1, asm.Byte),
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.And.Imm(asm.R2, 3),
		asm.Or.Reg(asm.R7, asm.R2),
		asm.JEq.Reg(asm.R7, asm.R1, "next"),
		asm.LoadMem(asm.R1, asm.RFP, cameAt, asm.Byte),
		asm.StoreMem(asm.RFP, goesAt, asm.R1, asm.Byte),
		asm.StoreMem(asm.RFP, goesAt+1, asm.R7, asm.Byte),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, ipChecksum),
		asm.LoadMem(asm.R3, asm.RFP, cameAt, asm.Half),
		asm.LoadMem(asm.R4, asm.RFP, goesAt, asm.Half),
		asm.Mov.Imm(asm.R5, 2),
		asm.FnL3CsumReplace.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, ipStart),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, goesAt),
		asm.Mov.Imm(asm.R4, 2),
		asm.Mov.Imm(asm.R5, 0),
		asm.FnSkbStoreBytes.Call(),
	}
}
