package policy

import (
	"path/filepath"
	"strings"
)

// What begins the parts of a policy's name that are files.
const (
	schedulePart = "schedule:"
	recordedPart = "recorded:"
)

// Shown is a policy's name as reports have it: files without their directories, so that a report
// depends on no place.
func Shown(policy string) string {
	parts := strings.Split(policy, "+")
	for i, p := range parts {
		for _, prefix := range []string{schedulePart, recordedPart} {
			if path, ok := strings.CutPrefix(p, prefix); ok {
				parts[i] = prefix + filepath.Base(path)
			}
		}
	}
	return strings.Join(parts, "+")
}
