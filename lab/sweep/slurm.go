package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// OnSlurm names the engine of a cluster that runs Slurm.
const OnSlurm = "slurm"

// Slurm is the engine of a cluster that runs Slurm: one job array at a time, each task of which makes the runs of a few
// groups. Its nodes see the folder of results, the input files and the program under the paths that they have here.
type Slurm struct {
	Runs      *Runs
	Command   []string // begins a task's command line, before the groups
	Partition string   // empty: Slurm's default
	Options   []string // others of sbatch, which count more than what was measured
	Call      func(ctx context.Context, argv ...string) ([]byte, error)
	Pause     func(context.Context) error // between two looks at the queue
	Now       func() time.Time
	Say       func(format string, args ...any)

	sized   int  // arrays whose tasks were measured beforehand
	reached bool // Slurm has answered before
}

const (
	// aTask is how long a task should take at least, beside what Slurm and a process need to start one. A kill loses
	// no more than one run of it.
	aTask = time.Minute
	// mostTasks bounds an array: Slurm takes 1,001 unless it is told otherwise.
	mostTasks = 1000

	// mostGroups bounds those of a task: they are one argument of a program, which takes 128 KiB.
	mostGroups = 8000
	// seldom is how many looks at the results come to one at the queue, which costs slurmctld and this machine more.
	seldom = 5
	// patience is how long Slurm may be out of reach while its tasks run.
	patience = 10 * time.Minute
)

// JobName is the name of a folder's arrays, by which they are found again.
func (f Folder) JobName() string {
	path, err := filepath.Abs(string(f))
	if err != nil {
		path = string(f)
	}
	sum := sha256.Sum256([]byte(path))
	return "lightloom-" + hex.EncodeToString(sum[:6])
}

// need is what a task takes: nothing where that is not known.
type need struct {
	time time.Duration
	peak int64 // bytes
}

// Engine makes runs by an array. What one that was killed has left, or one of which Slurm knows nothing any more, is
// still missing.
func (x *Slurm) Engine(ctx context.Context, groups []Group, made func()) error {
	dir, err := filepath.Abs(x.Runs.Folder.tasks())
	if err != nil {
		return fmt.Errorf("find results: %w", err)
	}
	if strings.ContainsAny(dir, "\\\n") {
		return hint.Wrong(hint.New(fmt.Sprintf("make runs by Slurm: %q has a backslash or a line's end, which sbatch reads "+
			"otherwise", string(x.Runs.Folder)), "name another folder with --results DIR"))
	}
	tasks, most := x.deal(groups)
	defer func() {
		if ctx.Err() == nil {
			return
		}
		if err := x.Runs.Folder.CancelJobs(context.WithoutCancel(ctx), x.Call); err != nil {
			x.Say("its tasks go on: %v; later, %s ends them", err,
				CommandLine("lightloom", "sweep", "cancel", string(x.Runs.Folder)))
		}
	}()
	var job, array string
	err = x.ask(ctx, func() error {
		if err := x.Runs.Folder.CancelJobs(ctx, x.Call); err != nil { // of an earlier start, or lost
			return err
		}
		var err error
		if array, err = x.write(dir, tasks); err != nil {
			return err
		}
		script := filepath.Join(array, script)
		out, err := x.Call(ctx, x.sbatch(len(tasks), most, script)...)
		job, _, _ = strings.Cut(strings.TrimSpace(string(out)), ";")
		return err
	})
	if err != nil {
		return err
	}
	return x.follow(ctx, job, array, slices.Concat(tasks...), len(tasks), made)
}

// deal makes tasks of groups. The first of each case is a task alone, unless one of its groups has been made, which
// says how long the others take.
func (x *Slurm) deal(groups []Group) (tasks [][]Group, most need) {
	costs, seen := map[int]need{}, map[int]bool{}
	for _, g := range groups {
		if seen[g.Case] {
			continue
		}
		seen[g.Case] = true
		if c, ok := x.cost(g.Case); ok {
			costs[g.Case] = c
		} else {
			tasks = append(tasks, []Group{g})
		}
	}
	if len(tasks) > 0 {
		return tasks[:min(len(tasks), mostTasks)], need{}
	}
	x.sized++
	return apportion(groups, costs)
}

// apportion makes tasks of about the same time, of groups whose cases' costs are known. What does not fit an array is
// still missing after it.
func apportion(groups []Group, costs map[int]need) (tasks [][]Group, most need) {
	var total time.Duration
	for _, g := range groups {
		total += costs[g.Case].time
	}
	size := max(aTask, total/mostTasks+1)
	var last time.Duration
	for _, g := range groups {
		c := costs[g.Case]
		if len(tasks) == 0 || last+c.time > size && len(tasks) < mostTasks || len(tasks[len(tasks)-1]) == mostGroups {
			tasks, last = append(tasks, nil), 0
		}
		if len(tasks) > mostTasks {
			tasks = tasks[:mostTasks]
			break
		}
		at := len(tasks) - 1
		tasks[at], last = append(tasks[at], g), last+c.time
		most = need{max(most.time, last), max(most.peak, c.peak)}
	}
	return tasks, most
}

// cost is what a group of a case takes, as one says that has been made.
func (x *Slurm) cost(of int) (c need, ok bool) {
	for k := range x.Runs.Seeds {
		c = need{}
		ok = !slices.ContainsFunc(x.Runs.Keys(Group{of, k}), func(k Key) bool {
			is, err := x.Runs.Folder.kept(k)
			if err == nil {
				c.time += is.wall()
				c.peak = max(c.peak, is.Peak)
			}
			return err != nil
		})
		if ok {
			return c, true
		}
	}
	return c, false
}

// script is the file that each task of an array runs.
const script = "task.sh"

// write lays out the tasks in a folder of their own below one that holds nothing else then, and returns its path: a
// task of an earlier array that begins late finds nothing to do.
func (x *Slurm) write(below string, tasks [][]Group) (dir string, err error) {
	if err = errors.Join(os.RemoveAll(below), os.MkdirAll(below, 0o755)); err == nil {
		if dir, err = os.MkdirTemp(below, "array"); err == nil {
			err = os.Chmod(dir, 0o755)
		}
	}
	if err != nil {
		return "", &FullError{x.Runs.Folder, err}
	}
	var words []string
	for _, w := range x.Command {
		words = append(words, quote(w))
	}
	// Slurm's own numbers say how many cores a task has, so it starts no more threads than that.
	text := fmt.Sprintf("#!/bin/sh\nexport GOMAXPROCS=\"${SLURM_CPUS_PER_TASK:-1}\"\nexec %s --groups=\"$(cat %s/\"$"+
		"SLURM_ARRAY_TASK_ID\")\"\n", strings.Join(words, " "), quote(dir))
	err = durable.Replace(filepath.Join(dir, script), []byte(text), false)
	for i, groups := range tasks {
		if err == nil {
			err = durable.Replace(filepath.Join(dir, strconv.Itoa(i)), []byte(Text(groups)), false)
		}
	}
	if err != nil {
		return "", &FullError{x.Runs.Folder, err}
	}
	return dir, nil
}

// CommandLine is a command as a shell reads it.
func CommandLine(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.Trim(w, bare) != "" {
			out[i] = quote(w)
		}
	}
	return strings.Join(out, " ")
}

// bare are characters that mean nothing to a shell.
const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// quote makes one word of a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// sbatch is the command that submits an array. A task may take three times what was measured, and twice that again
// each time that some were killed.
func (x *Slurm) sbatch(tasks int, most need, script string) []string {
	dir := strings.ReplaceAll(filepath.Dir(script), "%", "%%")
	argv := []string{"sbatch", "--parsable", "--job-name=" + x.Runs.Folder.JobName(), "--requeue",
		fmt.Sprintf("--array=0-%d", tasks-1), "--ntasks=1", "--cpus-per-task=1", "--output=" + dir + "/%a.out"}
	if x.Partition != "" {
		argv = append(argv, "--partition="+x.Partition)
	}
	if most.time > 0 {
		again := int64(1) << min(max(x.sized-1, 0), 5)
		argv = append(argv, fmt.Sprintf("--time=%d", 2+again*int64(3*most.time/time.Minute+1)),
			fmt.Sprintf("--mem=%dM", 64+again*(most.peak*3/2>>20)))
	}
	return append(append(argv, x.Options...), script)
}

// isAway reports whether Slurm was out of reach, in the words of its commands.
func isAway(err error) bool {
	for _, words := range []string{"contact slurm controller", "connect failure", "timed out", "Zero Bytes", "refused",
		"unexpected message"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

// ask asks Slurm: again and again while it is out of reach, once it has answered before.
func (x *Slurm) ask(ctx context.Context, do func() error) error {
	var since time.Time
	for {
		err := do()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			x.reached = true
			return nil
		case hint.Of(err) != "":
			return err
		case !isAway(err):
			return hint.Wrap(err, "mend it by an option of sbatch, such as --sbatch=--mem=0 or --partition NAME")
		case !x.reached, !since.IsZero() && x.Now().Sub(since) > patience:
			return hint.Wrap(err, "scontrol ping says whether slurmctld answers; results that are there count when the same "+
				"sweep is started again")
		case since.IsZero():
			since = x.Now()
			x.Say("%v; asking again for %v", err, patience)
		}
		if err := x.Pause(ctx); err != nil {
			return err
		}
	}
}

// follow waits until an array is over, or all that it was to make is there.
func (x *Slurm) follow(ctx context.Context, job, dir string, groups []Group, tasks int, made func()) error {
	var left []Key
	for _, g := range groups {
		for _, k := range x.Runs.Keys(g) {
			if !x.Runs.Folder.has(k) {
				left = append(left, k)
			}
		}
	}
	over := false
	for looks := 1; ; looks++ {
		left = slices.DeleteFunc(left, func(k Key) bool {
			if !x.Runs.Folder.has(k) {
				return false
			}
			made()
			return true
		})
		if len(left) == 0 {
			return nil
		}
		if over {
			return words(dir, tasks)
		}
		if looks%seldom != 0 {
			if err := x.Pause(ctx); err != nil {
				return err
			}
			continue
		}
		err := x.ask(ctx, func() error {
			out, err := x.Call(ctx, "squeue", "--noheader", "--jobs="+job, "--format=%T")
			over = err == nil && len(strings.TrimSpace(string(out))) == 0
			if err != nil && strings.Contains(err.Error(), "Invalid job id") { // it forgets jobs that are over
				over, err = true, nil
			}
			return err
		})
		if err == nil && !over {
			err = x.Pause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// words returns what tasks said that failed of themselves. Who was killed says nothing.
func words(dir string, tasks int) error {
	for i := range tasks {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)+".out"))
		at := strings.Index("\n"+string(b), "\nlightloom: ")
		if err != nil || at < 0 || strings.HasPrefix(string(b[at:]), "lightloom: interrupted") {
			continue
		}
		said := &limited{left: mostSaid}
		_, _ = said.Write(b[at:]) // it never fails
		return said.failed(1)
	}
	return nil
}

// CancelJobs ends this user's arrays of a folder, if there are any.
func (f Folder) CancelJobs(ctx context.Context, call func(ctx context.Context, argv ...string) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := call(ctx, "scancel", "--quiet", "--user="+strconv.Itoa(os.Getuid()), "--name="+f.JobName())
	return err
}
