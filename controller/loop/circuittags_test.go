package loop_test

import (
	"slices"
	"testing"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hostagent"
)

// TestCircuitTags: agents take the same tags for circuits' as the loop that deals host flows to them.
func TestCircuitTags(t *testing.T) {
	for _, text := range []string{"pod:cubes=4,side=2,spines=1", "pod:cubes=4,side=2,spines=3",
		"pod:cubes=4,side=2,spines=6", "hybrid:racks=4,hosts=2,spines=2"} {
		spec, err := topo.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		net, dealt := hostagent.NetworkOf(f), southbound.CircuitTags(f)
		for tag := southbound.Tag(0); ; tag++ {
			if got, want := net.IsCircuit(0, tag), slices.Contains(dealt, tag); got != want {
				t.Errorf("%s: tag %d is a circuit's: %v, want %v", text, tag, got, want)
			}
			if tag == southbound.TagHold {
				break
			}
		}
	}
}
