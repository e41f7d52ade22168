package dptest_test

import (
	"testing"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/pathmap/topo"
)

func TestMemory(t *testing.T) {
	dptest.Run(t, memory("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=1Gbps,nic=1Gbps"))
}

func TestMemorySources(t *testing.T) {
	for _, text := range []string{"jellyfish:switches=6,degree=3,hosts=7", "fattree:k=4,hosts=10",
		"jellyfish:switches=12,degree=3,hosts=20,seed=4"} {
		t.Run(text, func(t *testing.T) { dptest.RunSources(t, memory(text)) })
	}
}

func memory(text string) func(*testing.T) dptest.Network {
	return func(t *testing.T) dptest.Network {
		spec, err := topo.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		return dptest.NewMemory(f)
	}
}
