package ebpf_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// TestMain runs the tests in namespaces, as root.
func TestMain(m *testing.M) { netnstest.Main(m, false) }

func TestConformance(t *testing.T) { dptest.Kernel(t, netns.EBPF, netnstest.Netns, netnstest.BPF) }

func TestSources(t *testing.T) { dptest.KernelSources(t, netns.EBPF, netnstest.Netns, netnstest.BPF) }

func BenchmarkChanges(b *testing.B) {
	dptest.KernelBenchmarks(b, netns.EBPF, netnstest.Netns, netnstest.BPF)
}
