package vcpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hierarchy is a mounted tree of cgroups that has a cpu controller.
type hierarchy struct {
	root    string
	version int
}

// Supported returns which cgroups can limit vCPUs here, or why none can.
func Supported() (how string, err error) {
	h, err := find()
	if err != nil {
		return "", err
	}
	if err := unix.Access(h.root, unix.W_OK); err != nil {
		return "", fmt.Errorf("make cgroups below %s: %w", h.root, err)
	}
	if h.version == 2 {
		return "cgroup v2, cpu.max", nil
	}
	return "cgroup v1, cpu.cfs_quota_us", nil
}

// find returns the hierarchy of version 2 where that has a cpu controller, else that of version 1.
func find() (hierarchy, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return hierarchy{}, fmt.Errorf("find cgroups: %w", err)
	}
	return choose(mounts(string(text)), func(root string) bool {
		has, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
		return err == nil && slices.Contains(strings.Fields(string(has)), "cpu")
	})
}

// choose returns the first hierarchy of the newest version that can limit vCPUs.
func choose(all []hierarchy, hasCPU func(root string) bool) (hierarchy, error) {
	why := errors.New("no cgroups are mounted, so that vCPUs cannot be limited")
	for _, h := range all {
		if h.version == 2 && hasCPU(h.root) {
			return h, nil
		} else if h.version == 2 {
			why = fmt.Errorf("cgroups of version 2 at %s have no cpu controller, and no version 1 has one", h.root)
		}
	}
	if i := slices.IndexFunc(all, func(h hierarchy) bool { return h.version == 1 }); i >= 0 {
		return all[i], nil
	}
	return hierarchy{}, why
}

// mounts returns the whole hierarchies of version 2, and those of version 1 with a cpu controller, of a mountinfo
// (proc(5)).
func mounts(text string) (all []hierarchy) {
	for line := range strings.Lines(text) {
		left, right, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		at, kind := strings.Fields(left), strings.Fields(right)
		if len(at) < 5 || len(kind) < 3 || at[3] != "/" {
			continue
		}
		root, err := strconv.Unquote(`"` + at[4] + `"`) // spaces are octal there
		switch {
		case err != nil:
		case kind[0] == "cgroup2":
			all = append(all, hierarchy{root, 2})
		case kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "cpu"):
			all = append(all, hierarchy{root, 1})
		}
	}
	return all
}

// delegate has the groups below a folder limit vCPUs, which version 1 does anyway.
func (h hierarchy) delegate(dir string) error {
	if h.version == 1 {
		return nil
	}
	file := filepath.Join(dir, "cgroup.subtree_control")
	if on, err := os.ReadFile(file); err == nil && slices.Contains(strings.Fields(string(on)), "cpu") {
		return nil
	}
	if err := os.WriteFile(file, []byte("+cpu"), 0); err != nil {
		return fmt.Errorf("have groups below %s limit vCPUs: %w", dir, err)
	}
	return nil
}
