package policy

import (
	"strings"

	"lightloom/pathmap/topo"
)

// nearest returns the known name with the smallest edit distance to name, the first among equals. It returns "" if none
// is nearer than half of the longer name's length, since a wild guess does not help. A system's name stands for its
// part.
func nearest(name string, known []string) string {
	if part := partOf(strings.ToLower(name)); part != "" {
		return part
	}
	best, near := "", 0
	for _, k := range known {
		d := topo.Edits(name[:min(len(name), maxName)], k)
		if 2*d <= max(len(name), len(k)) && (best == "" || d < near) {
			best, near = k, d
		}
	}
	return best
}

// partOf returns the part that follows a system which is known by another name; "" where there is none.
func partOf(system string) string {
	return map[string]string{"varys": "sebf", "aalo": "dclas", "sincronia": "bssi", "rotornet": "rotor",
		"helios": "edmonds", "c-through": "edmonds", "hadoop": "fair", "delay": "fair", "pfabric": "scf",
		"ksp": "anypath"}[system]
}

// maxName bounds how much of a name is compared, which takes time by the product of lengths.
const maxName = 64
