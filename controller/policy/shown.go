package policy

import (
	"path/filepath"
	"strings"
)

// schedulePart begins the part of a policy's name that is a file.
const schedulePart = "schedule:"

// Shown is a policy's name as reports have it: files without their directories, so that a report depends on no place.
func Shown(policy string) string {
	parts := strings.Split(policy, "+")
	for i, p := range parts {
		if path, ok := strings.CutPrefix(p, schedulePart); ok {
			parts[i] = schedulePart + filepath.Base(path)
		}
	}
	return strings.Join(parts, "+")
}
