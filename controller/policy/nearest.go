package policy

import "lightloom/pathmap/topo"

// nearest returns the known name with the smallest edit distance to name, the first among equals. It returns "" if none
// is nearer than half of the longer name's length, since a wild guess does not help.
func nearest(name string, known []string) string {
	best, near := "", 0
	for _, k := range known {
		d := topo.Edits(name[:min(len(name), maxName)], k)
		if 2*d <= max(len(name), len(k)) && (best == "" || d < near) {
			best, near = k, d
		}
	}
	return best
}

// maxName bounds how much of a name is compared, which takes time by the product of lengths.
const maxName = 64
