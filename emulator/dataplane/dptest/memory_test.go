package dptest_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/pathmap/topo"
)

func TestMemory(t *testing.T) {
	dptest.Run(t, func(t *testing.T) dptest.Network {
		spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=1Gbps,nic=1Gbps")
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		return dptest.NewMemory(f)
	})
}
