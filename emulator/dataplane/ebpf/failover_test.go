package ebpf_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

func TestFailover(t *testing.T) { dptest.KernelFailover(t, netns.EBPF, netnstest.Netns, netnstest.BPF) }
