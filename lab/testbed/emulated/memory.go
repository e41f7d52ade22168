package emulated

import (
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memory is what this process and its children may take, in bytes: the machine's memory, or less by their cgroup. The
// process inside cannot tell: it has a /sys of its own.
func memory() int64 {
	most := int64(math.MaxInt64)
	var is unix.Sysinfo_t
	if unix.Sysinfo(&is) == nil {
		most = int64(is.Totalram) * int64(is.Unit)
	}
	return min(most, cgroupMemory(os.DirFS("/")))
}

// cgroupMemory is the lowest memory limit of a process's cgroup and those above it, of version 2 where that is usually
// mounted, or of version 1; MaxInt64 if there is none. A container sees its own cgroup as the root, or below a path
// that is not there.
func cgroupMemory(root fs.FS) int64 {
	most := int64(math.MaxInt64)
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return most
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number, controllers, path
		if len(part) < 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if slices.Contains(strings.Split(part[1], ","), "memory") {
			mount, file = memoryMount(root), "memory.limit_in_bytes"
		} else if part[1] != "" {
			continue
		}
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			if limit, err := fs.ReadFile(root, path.Join(mount, at, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil { // not "max"
					most = min(most, n)
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return most
}

// memoryMount is where version 1's controller of memory is mounted, by itself or with others.
func memoryMount(root fs.FS) string {
	text, _ := fs.ReadFile(root, "proc/self/mountinfo")
	for line := range strings.Lines(string(text)) {
		place, of, _ := strings.Cut(line, " - ")
		at, what := strings.Fields(place), strings.Fields(of) // what: type, source, options
		if len(at) > 4 && len(what) > 2 && what[0] == "cgroup" && slices.Contains(strings.Split(what[2], ","), "memory") {
			return strings.TrimPrefix(at[4], "/")
		}
	}
	return "sys/fs/cgroup/memory"
}
