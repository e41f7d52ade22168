package ebpf_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/netns/netnstest"
)

func TestParkSupported(t *testing.T) {
	netnstest.Need(t, netnstest.Netns, netnstest.BPF)
	if err := ebpf.ParkSupported(); err != nil {
		t.Error(err)
	}
}

func TestDarkQueues(t *testing.T) { dptest.KernelDarkQueues(t, netnstest.Netns, netnstest.BPF) }

func TestDarkQueuesTCP(t *testing.T) { dptest.KernelDarkQueuesTCP(t, netnstest.Netns, netnstest.BPF) }

func TestDarkQueuesRules(t *testing.T) {
	dptest.KernelDarkQueuesRules(t, netnstest.Netns, netnstest.BPF)
}
