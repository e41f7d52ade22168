package hostagent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/vcpus"
)

// quota returns what the kernel has as the limit of a task; "" where the task has no group.
func quota(t *testing.T, g *vcpus.Groups, task southbound.TaskID) string {
	t.Helper()
	var all []string
	for _, file := range []string{"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"} {
		switch b, err := os.ReadFile(filepath.Join(g.Path(task), file)); {
		case err == nil:
			all = append(all, strings.TrimSpace(string(b)))
		case !errors.Is(err, os.ErrNotExist):
			t.Fatal(err)
		}
	}
	return strings.Join(all, " ")
}

// TestTasksHaveVCPUs: the kernel limits the programs of a task from its start on, anew with a later try, and
// no longer once it ends, its host fails or the agent does. An earlier try, as of a leader that has been
// replaced, changes nothing.
func TestTasksHaveVCPUs(t *testing.T) {
	if _, err := vcpus.Supported(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "cgroup") {
			t.Fatalf("LIGHTLOOM_MUST names cgroup: %v", err)
		}
		t.Skip("needs cgroups that limit vCPUs: ", err)
	}
	g, err := vcpus.Open(fmt.Sprintf("lightloom-test-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the agent has ended
		if got := quota(t, g, 5); got != "" {
			t.Errorf("task 5 has %s after the agent", got)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	a := newTestAgent(t, 2, func(c *Config) { c.VCPUs = g })
	run := func(task southbound.TaskID, host southbound.HostID, compute time.Duration, try, milli int32) {
		t.Helper()
		x := southbound.Task{Task: task, Host: host, Compute: compute, Try: try, MilliVCPUs: milli}
		if err := a.Run([]southbound.Task{x}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(task southbound.TaskID, want string) {
		t.Helper()
		if got := quota(t, g, task); got != want {
			t.Errorf("task %d has %q, want %q", task, got, want)
		}
	}
	run(3, 0, time.Hour, 0, 250)
	has(3, "25000 100000")
	run(3, 0, time.Hour, 2, 1500)
	has(3, "150000 100000")
	run(3, 0, time.Hour, 1, 250)
	has(3, "150000 100000")
	run(3, 0, time.Millisecond, 3, 500)
	if got := take(t, a, 1)[0]; got.Task != 3 || got.Try != 3 {
		t.Errorf("%+v", got)
	}
	has(3, "")
	run(4, 1, time.Hour, 0, 5)
	has(4, "5000 1000000")
	run(6, 0, time.Hour, 0, 0)
	has(6, "")
	run(5, 0, time.Hour, 0, 100)
	if err := a.Regard(1, false); err != nil {
		t.Fatal(err)
	}
	has(4, "")
	has(5, "10000 100000")
}

// refusing is a machine that limits nothing.
type refusing struct{}

func (refusing) Set(t southbound.TaskID, _ int32) error {
	return fmt.Errorf("set vCPUs of task %d: read-only", t)
}
func (refusing) Remove(southbound.TaskID) error { return nil }

// TestTaskWithoutVCPUs: a task whose programs cannot be limited runs, and who asked is told why.
func TestTaskWithoutVCPUs(t *testing.T) {
	a := newTestAgent(t, 1, func(c *Config) { c.VCPUs = refusing{} })
	err := a.Run([]southbound.Task{{Task: 1, MilliVCPUs: 100}, {Task: 2}})
	if err == nil || !strings.Contains(err.Error(), "set vCPUs of task 1: read-only") {
		t.Errorf("%v", err)
	}
	if ev := take(t, a, 2); len(ev) != 2 {
		t.Errorf("%+v", ev)
	}
	if err := a.Run([]southbound.Task{{Task: 3, MilliVCPUs: -1}}); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("fewer than none: %v", err)
	}
}
