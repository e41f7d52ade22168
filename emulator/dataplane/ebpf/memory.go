package ebpf

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// memory is the value of a one-entry array map, mapped into this process: stores are seen by the
// program at once.
type memory struct {
	m *ebpf.Map
	b []byte
}

func newMemory(name string, size int) (*memory, error) {
	// Kernels before 5.11 charge maps to RLIMIT_MEMLOCK; later ones make this nothing.
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("lift the limit of locked memory: %w", err)
	}
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4,
		ValueSize: uint32(size), MaxEntries: 1,
		Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return nil, fmt.Errorf("make map %q of %d bytes: %w", name, size, err)
	}
	page := unix.Getpagesize()
	b, err := unix.Mmap(m.FD(), 0, (size+page-1)/page*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = m.Close()
		return nil, fmt.Errorf("map %q into memory: %w", name, err)
	}
	return &memory{m, b}, nil
}

// u64 returns the word at a byte offset, which is a multiple of 8. The slice access checks that it is
// inside.
func (m *memory) u64(off int) *atomic.Uint64 {
	_ = m.b[off+7]
	return (*atomic.Uint64)(unsafe.Pointer(&m.b[off]))
}

// u32 returns the half word at a byte offset, which is a multiple of 4.
func (m *memory) u32(off int) *atomic.Uint32 {
	_ = m.b[off+3]
	return (*atomic.Uint32)(unsafe.Pointer(&m.b[off]))
}

func (m *memory) close() error {
	if err := unix.Munmap(m.b); err != nil {
		return err
	}
	return m.m.Close()
}
