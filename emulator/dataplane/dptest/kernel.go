package dptest

import (
	"testing"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap/topo"
)

// Kernel runs the suite on real packets through a dataplane of package netns.
func Kernel(t *testing.T, dataplane string, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Share(t)
	Run(t, func(t *testing.T) Network {
		return Real(t, "hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=1Gbps,nic=1Gbps",
			netns.Options{Dataplane: dataplane})
	})
}

// KernelSources is Kernel for rules that name sources.
func KernelSources(t *testing.T, dataplane string, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Share(t)
	RunSources(t, func(t *testing.T) Network {
		return Real(t, "jellyfish:switches=6,degree=3,hosts=7,rate=1Gbps", netns.Options{Dataplane: dataplane})
	})
}

// Real builds a fabric of real interfaces and the sockets in it, until t ends.
func Real(t testing.TB, text string, opt netns.Options) *Packets {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := netns.Build(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := NewPackets(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
