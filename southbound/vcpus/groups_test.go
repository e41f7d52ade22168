package vcpus

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lightloom/southbound"
)

// groups makes a folder of cgroups of its own, which goes at the end.
func groups(t *testing.T) *Groups {
	t.Helper()
	if how, err := Supported(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "cgroup") {
			t.Fatalf("LIGHTLOOM_MUST names cgroup: %v", err)
		}
		t.Skip("needs cgroups that limit vCPUs: ", err)
	} else {
		t.Log(how)
	}
	g, err := Open(fmt.Sprintf("lightloom-test-%d/h0-0", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		top := filepath.Dir(g.dir)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(top); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", top, err)
		}
	})
	return g
}

// throttled has a program in a task's group compute for some ten milliseconds, and returns how often the
// kernel has held programs of that group back so far.
func throttled(t *testing.T, g *Groups) int {
	t.Helper()
	out, err := exec.Command("sh", "-c", `echo $$ > "$0/cgroup.procs" && i=0 &&
		while [ $i -lt 60000 ]; do i=$((i+1)); done`, g.Path(7)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stat, err := os.ReadFile(filepath.Join(g.Path(7), "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(stat)) {
		if n, ok := strings.CutPrefix(line, "nr_throttled "); ok {
			times, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				t.Fatal(err)
			}
			return times
		}
	}
	t.Fatalf("no nr_throttled in %s", stat)
	return 0
}

// TestVCPUsOfPrograms: the kernel holds a program back that has few vCPUs, and no longer once it has more than
// there are.
func TestVCPUsOfPrograms(t *testing.T) {
	g := groups(t)
	if err := g.Set(7, 20); err != nil { // two milliseconds in a hundred
		t.Fatal(err)
	}
	few := throttled(t, g)
	if few == 0 {
		t.Error("a fiftieth of a vCPU held nothing back")
	}
	for _, milli := range []int32{1, 9, 500, 10, 64_000} {
		if err := g.Set(7, milli); err != nil {
			t.Fatal(err)
		}
	}
	if many := throttled(t, g); many != few {
		t.Errorf("64 vCPUs held it back %d times", many-few)
	}
	if err := g.Set(7, 0); err == nil || !strings.Contains(err.Error(), "take 1 up") {
		t.Errorf("no vCPU at all: %v", err)
	}
}

// program starts a program in a task's group, which runs until end is called.
func program(t *testing.T, g *Groups, task southbound.TaskID) (end func()) {
	t.Helper()
	c := exec.Command("sh", "-c", `echo $$ > "$0/cgroup.procs" && echo in && read wait`, g.Path(task))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		in.Close()
		_ = c.Wait() // read has found the end of its input
	})
	t.Cleanup(end)
	var word string
	if _, err := fmt.Fscan(out, &word); err != nil {
		t.Fatal(err)
	}
	return end
}

// wantUnlimited fails where a task's group still limits programs.
func wantUnlimited(t *testing.T, g *Groups, task southbound.TaskID) {
	t.Helper()
	file, want := "cpu.max", "max"
	if g.version == 1 {
		file, want = "cpu.cfs_quota_us", "-1"
	}
	if has, err := os.ReadFile(filepath.Join(g.Path(task), file)); err != nil || !strings.HasPrefix(string(has), want) {
		t.Errorf("%s of task %d is %q, %v, while a program runs on", file, task, has, err)
	}
}

// wantGone fails where a task's group is there.
func wantGone(t *testing.T, g *Groups, task southbound.TaskID) {
	t.Helper()
	if _, err := os.Stat(g.Path(task)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group of task %d is there: %v", task, err)
	}
}

// TestLeftByCrash: what a process left that was killed limits programs no longer, and goes with the next process.
func TestLeftByCrash(t *testing.T) {
	killed := groups(t)
	if err := killed.Set(7, 20); err != nil {
		t.Fatal(err)
	}
	end := program(t, killed, 7)
	top := filepath.Dir(killed.dir)
	name, _ := filepath.Rel(filepath.Dir(top), killed.dir)
	g, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	wantUnlimited(t, g, 7)
	end()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(top); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", top, err)
	}
}

// TestBusyGoesLater: the group of a task that has ended goes when another task begins or ends after its last program.
// A task that is back has its group to itself.
func TestBusyGoesLater(t *testing.T) {
	g := groups(t)
	for _, later := range []func() error{
		func() error { return g.Set(8, 100) },
		func() error { return g.Remove(8) },
	} {
		if err := g.Set(7, 20); err != nil {
			t.Fatal(err)
		}
		end := program(t, g, 7)
		if err := g.Remove(7); err != nil {
			t.Fatal(err)
		}
		end()
		if err := later(); err != nil {
			t.Fatal(err)
		}
		wantGone(t, g, 7)
	}
	if err := g.Set(7, 20); err != nil {
		t.Fatal(err)
	}
	end := program(t, g, 7)
	if err := errors.Join(g.Remove(7), g.Set(7, 20)); err != nil {
		t.Fatal(err)
	}
	end()
	if err := g.Set(8, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(g.Path(7)); err != nil {
		t.Errorf("the group of a task that is back: %v", err)
	}
}

// TestProgramsOutliveTasks: the group of a task that has ended goes with its last program, which is not
// limited until then; and another process that opens the folder sweeps it.
func TestProgramsOutliveTasks(t *testing.T) {
	g := groups(t)
	if err := g.Set(7, 20); err != nil {
		t.Fatal(err)
	}
	end := program(t, g, 7)
	if err := g.Remove(7); err != nil {
		t.Fatal(err)
	}
	wantUnlimited(t, g, 7)
	end()
	if err := g.Remove(7); err != nil {
		t.Fatal(err)
	}
	if err := g.Set(8, 100); err != nil {
		t.Fatal(err)
	}
	name, _ := filepath.Rel(filepath.Dir(filepath.Dir(g.dir)), g.dir)
	if _, err := Open(name); err != nil {
		t.Fatal(err)
	}
	wantGone(t, g, 7)
	wantGone(t, g, 8)
	if err := g.Remove(99); err != nil {
		t.Errorf("a task that had none: %v", err)
	}
}

// TestNoGroups: what cannot be a folder of cgroups, and a machine that has none, are refused with the reason.
func TestNoGroups(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../../b"} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "write a path below the root") {
			t.Errorf("%q: %v", name, err)
		}
	}
	const line = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	const v1 = "32 31 0:29 / /sys/fs/cgroup/c\\040pu rw - cgroup cgroup rw,cpu,cpuacct\n"
	for _, tt := range []struct {
		name, text string
		cpu        bool
		want       string
	}{
		{"none", "", false, "no cgroups are mounted"},
		{"version 2 without", line, false, "/sys/fs/cgroup/unified have no cpu controller, and no version 1 has one"},
		{"version 2", v1 + line, true, "{/sys/fs/cgroup/unified 2} <nil>"},
		{"version 1 beside it", line + v1, false, "{/sys/fs/cgroup/c pu 1} <nil>"},
		{"part of one", strings.Replace(line, " / ", " /part ", 1), true, "no cgroups are mounted"},
		{"others", "33 31 0:30 / /m rw - cgroup cgroup rw,memory\nrubbish\n1 2 3 / x - cgroup2\n", false, "no cgroups are"},
	} {
		h, err := choose(mounts(tt.text), func(string) bool { return tt.cpu })
		if got := fmt.Sprint(h, err); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzMounts: no mountinfo makes the reader fail.
func FuzzMounts(f *testing.F) {
	f.Add("41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range mounts(text) {
			if h.version != 1 && h.version != 2 {
				t.Errorf("%q: %+v", text, h)
			}
		}
	})
}
