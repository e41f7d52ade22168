package policy

import (
	"cmp"
	"slices"
	"strings"

	"lightloom/pathmap/topo"
)

// nearest returns the known name with the smallest edit distance to name, the first among equals. It
// returns "" if none is nearer than half of the longer name's length, since a wild guess does not help.
// A system's name stands for its part.
func nearest(name string, known []string) string {
	if part := partOf(strings.ToLower(name)); part != "" {
		return part
	}
	for _, k := range closest(name, known, 1) {
		if 2*edits(name, k) <= max(len(name), len(k)) {
			return k
		}
	}
	return ""
}

// closest returns so many of the known names, those with the smallest edit distances, nearest first.
func closest(name string, known []string, most int) []string {
	all := slices.Clone(known)
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(edits(name, a), edits(name, b)) })
	return all[:min(len(all), most)]
}

func edits(name, known string) int { return topo.Edits(name[:min(len(name), maxName)], known) }

// partOf returns the part that follows a system which is known by another name; "" where there is none.
func partOf(system string) string {
	return map[string]string{"varys": "sebf", "aalo": "dclas", "sincronia": "bssi", "rotornet": "rotor",
		"helios": "edmonds", "c-through": "edmonds", "hadoop": "fair", "delay": "fair", "pfabric": "scf",
		"ksp": "anypath"}[system]
}

// maxName bounds how much of a name is compared, which takes time by the product of lengths.
const maxName = 64
