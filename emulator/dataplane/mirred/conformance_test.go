package mirred_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// TestMain runs the tests in namespaces, rootless, also where root runs it.
func TestMain(m *testing.M) { netnstest.Main(m, true) }

func TestConformance(t *testing.T) { dptest.Kernel(t, netns.Mirred, netnstest.Netns) }

func TestSources(t *testing.T) { dptest.KernelSources(t, netns.Mirred, netnstest.Netns) }

func BenchmarkChanges(b *testing.B) { dptest.KernelBenchmarks(b, netns.Mirred, netnstest.Netns) }
