// Package vcpus limits by cgroup how much of this machine's processors the programs of tasks get. Each task
// has a group of its own, which whoever starts its programs puts them into. Version 2 of cgroups is used where
// it has a cpu controller, else version 1.
//
// It starts and moves no process.
package vcpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// milliVCPUs are thousandths of a vCPU in a whole one.
const milliVCPUs = 1000

// Groups is a folder of cgroups, one a task. One goroutine at a time uses it.
type Groups struct {
	dir     string
	version int
	made    []string        // the folder and those around it, the outermost first
	busy    map[string]bool // groups without a task, in which programs still ran
}

// Open makes a folder for the groups of tasks, by its path below the root of cgroups. Of the groups of tasks that
// an earlier process has left there it removes the empty ones, and lifts the limits of others until Set.
func Open(name string) (*Groups, error) {
	if name == "." || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("make cgroup %q: write a path below the root of cgroups, such as lightloom/h0-0", name)
	}
	h, err := find()
	if err != nil {
		return nil, fmt.Errorf("make cgroup %q: %w", name, err)
	}
	g := &Groups{version: h.version, busy: map[string]bool{}}
	at := h.root
	for part := range strings.SplitSeq(filepath.Clean(name), "/") {
		if err := h.delegate(at); err != nil {
			return nil, errors.Join(fmt.Errorf("make cgroup %q: %w", name, err), g.Close())
		}
		at = filepath.Join(at, part)
		if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(fmt.Errorf("make cgroup %q: %w", name, err), g.Close())
		}
		g.made = append(g.made, at) // one that is there may be left from a crash
	}
	g.dir = at
	if err := h.delegate(at); err != nil {
		return nil, errors.Join(fmt.Errorf("make cgroup %q: %w", name, err), g.Close())
	}
	for _, at := range g.all() {
		_ = g.remove(at) // at worst one stays as it was
	}
	return g, nil
}

// Path returns the folder of a task's group.
func (g *Groups) Path(t southbound.TaskID) string {
	return filepath.Join(g.dir, "task-"+strconv.Itoa(int(t)))
}

// Set gives the programs of a task so many thousandths of vCPUs together, from now on. It makes the task's group.
func (g *Groups) Set(t southbound.TaskID, milli int32) error {
	if milli <= 0 {
		return fmt.Errorf("set vCPUs of task %d to %d thousandths: take 1 up", t, milli)
	}
	delete(g.busy, g.Path(t))
	g.removeBusy()
	if err := os.Mkdir(g.Path(t), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("set vCPUs of task %d: %w", t, err)
	}
	quota, period := quotaOf(milli)
	if err := g.limit(g.Path(t), strconv.FormatInt(quota, 10), strconv.FormatInt(period, 10)); err != nil {
		return fmt.Errorf("set vCPUs of task %d to %d thousandths: %w", t, milli, err)
	}
	return nil
}

// quotaOf returns microseconds of processor time in a period of so many. The kernel takes a quota of a
// millisecond up, and a period of a second at most.
func quotaOf(milli int32) (quota, period int64) {
	period = 100_000
	if milli < 10 {
		period = 1_000_000
	}
	return int64(milli) * period / milliVCPUs, period
}

// limit writes a quota. The period goes first on version 1, after the quota of before is lifted: both in force
// together must be allowed.
func (g *Groups) limit(group, quota, period string) error {
	write := func(file, text string) error {
		return os.WriteFile(filepath.Join(group, file), []byte(text), 0)
	}
	if g.version == 2 {
		return write("cpu.max", quota+" "+period)
	}
	return errors.Join(write("cpu.cfs_quota_us", "-1"), write("cpu.cfs_period_us", period),
		write("cpu.cfs_quota_us", quota))
}

// Remove removes a task's group. Programs that are still in it are no longer limited, and keep it
// there: a later Set or Remove of any task removes it once they have ended.
func (g *Groups) Remove(t southbound.TaskID) error {
	g.removeBusy()
	if err := g.remove(g.Path(t)); err != nil {
		return fmt.Errorf("remove cgroup of task %d: %w", t, err)
	}
	return nil
}

// remove removes a group, or lifts its limit while programs are in it.
func (g *Groups) remove(group string) error {
	err := os.Remove(group)
	if !errors.Is(err, unix.EBUSY) {
		delete(g.busy, group)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	g.busy[group] = true
	none := "max"
	if g.version == 1 {
		none = "-1"
	}
	if err := g.limit(group, none, "100000"); err != nil {
		return fmt.Errorf("lift its limit, since programs still run: %w", err)
	}
	return nil
}

// removeBusy removes the groups whose last program has ended since.
func (g *Groups) removeBusy() {
	for group := range g.busy {
		if err := os.Remove(group); err == nil || errors.Is(err, fs.ErrNotExist) {
			delete(g.busy, group)
		}
	}
}

// all returns the groups of tasks that are there.
func (g *Groups) all() []string {
	all, _ := filepath.Glob(filepath.Join(g.dir, "task-*"))
	return all
}

// Close removes what is empty of the folder and of those around it. Of the latter, one that others own stays.
func (g *Groups) Close() error {
	if g.dir != "" {
		for _, at := range g.all() {
			_ = os.Remove(at) // one with programs stays, and keeps its limit
		}
	}
	for len(g.made) > 0 {
		last := len(g.made) - 1
		err := os.Remove(g.made[last])
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EBUSY) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("remove cgroup: %w", err)
		}
		g.made = g.made[:last]
	}
	return nil
}
