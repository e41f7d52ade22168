package controller

import (
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// CircuitTags are the tags of the circuits between two racks, in the order of their inputs: the circuit's own, and on a
// pod, where several can stand at once, those of paths that its spines leave free. Circuits beyond carry nothing.
func CircuitTags(f *topo.Fabric) []southbound.Tag {
	tags := []southbound.Tag{southbound.TagCircuit}
	if f.Spec.Pod() {
		for i := f.Spec.PathsKept(); i < southbound.MaxPaths; i++ {
			tags = append(tags, southbound.PathTag(i))
		}
	}
	return tags
}
