package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/hint"
)

// cluster stands for Slurm's commands: what it is told to submit runs at once, by the sweep itself.
type cluster struct {
	t      *testing.T
	s      *Sweep
	calls  []string
	tasks  []int // of each array
	killed func(array, task int) bool
	fails  func(argv []string) error
	says   string // in the output of each task
}

func (c *cluster) call(ctx context.Context, argv ...string) ([]byte, error) {
	c.calls = append(c.calls, strings.Join(argv, " "))
	if c.fails != nil {
		if err := c.fails(argv); err != nil {
			return nil, err
		}
	}
	if argv[0] != "sbatch" {
		return nil, nil
	}
	script := argv[len(argv)-1]
	task := 0
	for ; ; task++ {
		name := filepath.Join(filepath.Dir(script), fmt.Sprint(task))
		b, err := os.ReadFile(name)
		if err != nil {
			break
		}
		if err := os.WriteFile(name+".out", []byte(c.says), 0o600); err != nil {
			c.t.Fatal(err)
		}
		groups, err := c.s.Groups(string(b))
		if err == nil && c.says == "" && (c.killed == nil || !c.killed(len(c.tasks), task)) {
			err = c.s.Make(ctx, groups, func() {})
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	c.tasks = append(c.tasks, task)
	return fmt.Appendf(nil, "%d;lightloom\n", 7+len(c.tasks)), nil
}

func (c *cluster) engine() *Slurm {
	now := time.Time{}
	return &Slurm{Runs: c.s.Runs(), Command: []string{"/it's/lightloom", "sweep"}, Partition: "all",
		Options: []string{"--mem=0"}, Call: c.call, Now: func() time.Time { return now }, Say: c.t.Logf,
		Pause: func(ctx context.Context) error { now = now.Add(time.Minute); return ctx.Err() }}
}

// TestSlurm: first tasks say how large the others are; one that is killed is asked for again, with twice the limits.
func TestSlurm(t *testing.T) {
	s := mustOpen(t, study, Folder(t.TempDir()))
	c := &cluster{t: t, s: s, killed: func(array, _ int) bool { return array == 1 }}
	done, err := s.Run(t.Context(), c.engine().Engine, io.Discard)
	if err != nil || len(done) != 2 || done[0].Runs != 6 {
		t.Fatalf("%+v, %v", done, err)
	}
	if !slices.Equal(c.tasks, []int{2, 1, 1}) {
		t.Errorf("tasks of arrays: %v", c.tasks)
	}
	var asked []string
	for _, call := range c.calls {
		if strings.HasPrefix(call, "sbatch") {
			asked = append(asked, call)
		}
	}
	name := s.Folder.JobName()
	if !strings.HasPrefix(asked[0], "sbatch --parsable --job-name="+name+" --requeue --array=0-1 ") ||
		!strings.Contains(asked[0], "/%a.out --partition=all --mem=0 ") || strings.Contains(asked[0], "--time") {
		t.Errorf("first tasks: %s", asked[0])
	}
	if !strings.Contains(asked[1], " --time=3 ") || !strings.Contains(asked[2], " --time=4 ") {
		t.Errorf("limits: %q", asked[1:])
	}
	all, err := filepath.Glob(filepath.Join(s.Folder.tasks(), "*", script))
	if err != nil || len(all) != 1 {
		t.Fatalf("scripts of the last array: %q, %v", all, err)
	}
	if first := asked[0][strings.LastIndex(asked[0], " ")+1:]; first == all[0] {
		t.Error("two arrays share a folder")
	}
	if script, err := os.ReadFile(all[0]); err != nil ||
		!strings.Contains(string(script), `exec '/it'\''s/lightloom' 'sweep' --groups="$(cat '`) {
		t.Errorf("%s, %v", script, err)
	}
	if slices.IndexFunc(c.calls, func(call string) bool { return strings.HasPrefix(call, "scancel ") }) != 0 {
		t.Errorf("arrays of an earlier start are not ended first: %q", c.calls)
	}
	odd := mustOpen(t, study, Folder(filepath.Join(t.TempDir(), `a\b`)))
	c = &cluster{t: t, s: odd}
	if _, err := odd.Run(t.Context(), c.engine().Engine, io.Discard); err == nil || len(c.calls) > 0 ||
		hint.Of(err) != "name another folder with --results DIR" {
		t.Errorf("a folder that sbatch reads otherwise: %v", err)
	}
}

// TestCommandLine: a shell reads the words as they are, and plain ones stand bare.
func TestCommandLine(t *testing.T) {
	all := []string{"run", "--to=a/b", "it's", "", "a b", "$HOME", "*", "é", "a\nb"}
	line := CommandLine(all...)
	if !strings.HasPrefix(line, "run --to=a/b '") {
		t.Error(line)
	}
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, all) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestApportion: the groups of a task fit one argument of a program, however short they are, and the tasks an array.
func TestApportion(t *testing.T) {
	for _, c := range []struct{ groups, tasks, last int }{{10, 1, 10}, {mostGroups + 10, 2, 10},
		{mostTasks*mostGroups + 10, mostTasks, mostGroups}} {
		tasks, _ := apportion(make([]Group, c.groups), map[int]need{0: {time: time.Microsecond}})
		if n := len(tasks); n != c.tasks || len(tasks[n-1]) != c.last {
			t.Errorf("%d groups: %d tasks, the last of %d; want %d, of %d", c.groups, n, len(tasks[n-1]), c.tasks, c.last)
		}
	}
}

// TestSlurmAway: a slurmctld that never answered ends the sweep at once, one that has been there is waited for, and
// what it forgot is asked for again.
func TestSlurmAway(t *testing.T) {
	s := mustOpen(t, study, Folder(t.TempDir()))
	away := errors.New("ask Slurm: sbatch: exit status 1: Unable to contact slurm controller (connect failure)")
	c := &cluster{t: t, s: s, fails: func([]string) error { return away }}
	if _, err := s.Run(t.Context(), c.engine().Engine, io.Discard); !errors.Is(err, away) || len(c.calls) != 1 ||
		!strings.Contains(hint.Of(err), "scontrol ping") {
		t.Errorf("%d calls: %v", len(c.calls), err)
	}
	out := 0
	c = &cluster{t: t, s: s, killed: func(array, _ int) bool { return array < 2 }, fails: func(argv []string) error {
		switch out++; {
		case argv[0] == "squeue" && out < 8:
			return away
		case argv[0] == "squeue":
			return errors.New("slurm_load_jobs error: Invalid job id specified")
		}
		return nil
	}}
	if _, err := s.Run(t.Context(), c.engine().Engine, io.Discard); err != nil || len(c.tasks) != 4 {
		t.Errorf("arrays %v: %v", c.tasks, err)
	}
	s = mustOpen(t, study, Folder(t.TempDir()))
	c = &cluster{t: t, s: s, killed: func(int, int) bool { return true }, fails: func(argv []string) error {
		if argv[0] == "squeue" {
			return away
		}
		return nil
	}}
	if _, err := s.Run(t.Context(), c.engine().Engine, io.Discard); !errors.Is(err, away) || len(c.calls) < 10 {
		t.Errorf("%d calls: %v", len(c.calls), err)
	}
}

// TestSlurmWords: what a task says of itself ends the sweep, with its hint.
func TestSlurmWords(t *testing.T) {
	s := mustOpen(t, study, Folder(t.TempDir()))
	c := &cluster{t: t, s: s, says: "slurmstepd: x\nlightloom: write result: no space left on device\nhint: free some\n"}
	_, err := s.Run(t.Context(), c.engine().Engine, io.Discard)
	if err == nil || err.Error() != "write result: no space left on device" || hint.Of(err) != "free some" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	c.says = "lightloom: interrupted; everything is cleaned up\nslurmstepd: error: *** JOB 8 CANCELLED\n"
	if _, err := s.Run(t.Context(), c.engine().Engine, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "without any result") {
		t.Errorf("killed each time: %v", err)
	}
}

// TestSlurmEnds: a sweep that ends ends its array.
func TestSlurmEnds(t *testing.T) {
	s := mustOpen(t, study, Folder(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	c := &cluster{t: t, s: s, killed: func(int, int) bool { cancel(); return true }}
	if _, err := s.Run(ctx, c.engine().Engine, io.Discard); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	last := c.calls[len(c.calls)-1]
	if !strings.HasPrefix(last, "scancel ") || !strings.Contains(last, s.Folder.JobName()) {
		t.Errorf("last call: %s", last)
	}
}
