package ebpf_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/netns/netnstest"
)

func TestVOQSupported(t *testing.T) {
	netnstest.Need(t, netnstest.Netns, netnstest.BPF)
	if err := ebpf.VOQSupported(); err != nil {
		t.Error(err)
	}
}

func TestVOQs(t *testing.T) { dptest.KernelVOQs(t, netnstest.Netns, netnstest.BPF) }

func TestVOQsTCP(t *testing.T) { dptest.KernelVOQsTCP(t, netnstest.Netns, netnstest.BPF) }

func TestVOQsRules(t *testing.T) {
	dptest.KernelVOQsRules(t, netnstest.Netns, netnstest.BPF)
}
