package marking

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lightloom/southbound/hint"
)

// cgroupDir is where distributions mount cgroups.
const cgroupDir = "/sys/fs/cgroup/"

// cgroupID returns the number by which the kernel knows a cgroup, which is that of its directory.
func cgroupID(name string) (uint64, error) {
	dir, err := OpenCgroup(name)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return 0, fmt.Errorf("find cgroup %q: %w", name, err)
	}
	return st.Ino, nil
}

// OpenCgroup opens the directory of a cgroup of version 2, by its path below the root or where it is
// mounted.
func OpenCgroup(name string) (*os.File, error) {
	root, err := openRoot()
	if err != nil {
		return nil, err
	}
	defer unix.Close(root)
	fd, err := unix.Openat(root, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // a root of its own if absolute
	if err != nil {
		return nil, hint.New(fmt.Sprintf("find cgroup %q: %v", name, err),
			"write the path below the root of cgroups that /proc/PID/cgroup shows behind 0::")
	}
	if !isCgroup(fd) {
		unix.Close(fd)
		return nil, fmt.Errorf("find cgroup %q: it is a directory, but no cgroup of version 2", name)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Own returns the path of this process's cgroup below the root of those of version 2; "" for the root.
func Own() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("find own cgroup: %w", err)
	}
	return own(string(text)), nil
}

func own(text string) string {
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::/"); ok {
			return path
		}
	}
	return ""
}

func isCgroup(fd int) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC
}

// openRoot opens the root of cgroups: where it is mounted, or as a mount of its own, since namespaces
// may hide it.
func openRoot() (int, error) {
	if at, err := mounted(); err == nil && at != "" {
		if fd, err := unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
			if isCgroup(fd) {
				return fd, nil
			}
			unix.Close(fd) // another mount hides it
		}
	}
	fs, err := unix.Fsopen("cgroup2", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("find cgroups: %w", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("find cgroups: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("find cgroups: %w", err)
	}
	return fd, nil
}

// mounted returns where the whole of version 2 is mounted; "" where nowhere.
func mounted() (string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if at, ok := cgroupMount(in.Text()); ok {
			return at, nil
		}
	}
	return "", nil
}

// cgroupMount returns the mount point of a line of mountinfo (proc(5)) if it is that of the root of cgroups.
func cgroupMount(line string) (at string, ok bool) {
	left, right, _ := strings.Cut(line, " - ")
	f := strings.Fields(left)
	if len(f) < 5 || !strings.HasPrefix(right, "cgroup2 ") || f[3] != "/" {
		return "", false
	}
	at, err := strconv.Unquote(`"` + f[4] + `"`) // spaces are octal there
	return at, err == nil
}
