package ebpf_test

import (
	"testing"
	"time"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

func TestDarkness(t *testing.T) {
	dptest.KernelDarkness(t, netns.EBPF, []time.Duration{100 * time.Microsecond, time.Millisecond,
		10 * time.Millisecond},
		dptest.Bound{Share: 0.5, Min: -2 * time.Microsecond,
			Max: 20 * time.Microsecond}, netnstest.Netns, netnstest.BPF)
}
