package southbound

import (
	"slices"

	"lightloom/pathmap/topo"
)

// NamesCircuit reports whether a tag is a circuit's on a fabric.
func NamesCircuit(f *topo.Fabric, t Tag) bool { return slices.Contains(CircuitTags(f), t) }

// CircuitTags are the tags of the circuits between two racks, in the order of their inputs: the circuit's own, and on a
// pod, where several can stand at once, those of paths that its spines leave free. Circuits beyond carry nothing.
func CircuitTags(f *topo.Fabric) []Tag {
	tags := []Tag{TagCircuit}
	if f.Spec.Pod() {
		for i := f.Spec.PathsKept(); i < MaxPaths; i++ {
			tags = append(tags, PathTag(i))
		}
	}
	return tags
}
