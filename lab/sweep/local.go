package sweep

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/lab/console"
)

// Text is groups as a command line names them, such as 0.1,0.2.
func Text(groups []Group) string {
	words := make([]string, len(groups))
	for i, g := range groups {
		words[i] = fmt.Sprintf("%d.%d", g.Case, g.Seed)
	}
	return strings.Join(words, ",")
}

// Groups reads what Text wrote. They must be of the sweep.
func (s *Sweep) Groups(text string) ([]Group, error) {
	var all []Group
	for word := range strings.SplitSeq(text, ",") {
		c, k, _ := strings.Cut(word, ".")
		g := Group{}
		var err1, err2 error
		g.Case, err1 = strconv.Atoi(c)
		g.Seed, err2 = strconv.Atoi(k)
		if err1 != nil || err2 != nil || g.Case < 0 || g.Case >= len(s.grids) || g.Seed < 0 ||
			g.Seed >= len(s.grids[g.Case].Seeds()) {
			return nil, fmt.Errorf("%.20q is no group of %s: write case.seed, each from 0, such as 0.0", word, s.File)
		}
		all = append(all, g)
	}
	return all, nil
}

// Local is the engine of this machine: so many processes at a time, each making the runs of a few groups. command
// begins their command line, before the groups; a task writes a line to its standard output after each run, and ends
// when its standard input does.
type Local struct {
	Command []string
	Workers int
	Stderr  io.Writer
}

// aTask is how long a task should take at least, beside what a process costs to start. A kill loses one run of it.
const aTask = 30 * time.Second

// Engine makes runs by processes. A process that is killed is no error: what it was at is still missing.
func (l Local) Engine(ctx context.Context, groups []Group, made func()) error {
	queue := &queue{groups: groups, workers: l.Workers}
	all, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for range min(l.Workers, len(groups)) {
		all.Go(func() error {
			for {
				task := queue.next()
				if len(task) == 0 || ctx.Err() != nil {
					return context.Cause(ctx)
				}
				began := time.Now()
				err := l.task(ctx, task, func() {
					mu.Lock()
					defer mu.Unlock()
					made()
				})
				if err != nil {
					return err
				}
				queue.took(time.Since(began), len(task))
			}
		})
	}
	return all.Wait()
}

// queue hands out groups, more at a time where they are short.
type queue struct {
	mu      sync.Mutex
	groups  []Group
	workers int
	each    time.Duration // that a group took; 0: not known
}

func (q *queue) next() []Group {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 1
	if q.each > 0 {
		n = int(aTask/q.each) + 1
	}
	n = min(n, len(q.groups)/(2*q.workers)+1, len(q.groups)) // all have something to do to the end
	out := q.groups[:n]
	q.groups = q.groups[n:]
	return out
}

func (q *queue) took(d time.Duration, groups int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.each = max(d/time.Duration(groups), 1)
}

// mostSaid bounds what is kept of a task's words.
const mostSaid = 1 << 14

// task runs a process.
func (l Local) task(ctx context.Context, groups []Group, made func()) error {
	args := append(append([]string{}, l.Command[1:]...), "--groups="+Text(groups))
	c := exec.CommandContext(ctx, l.Command[0], args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	c.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(max(1, runtime.GOMAXPROCS(0)/l.Workers)))
	said := &limited{left: mostSaid}
	c.Stderr = said
	in, err := c.StdinPipe() // ends when this process does
	if err != nil {
		return fmt.Errorf("start task: %w", err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start task: %w", err)
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start task: %w", err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		made()
	}
	err = c.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() < 0: // killed
		return nil
	}
	text := strings.TrimSpace(strings.TrimPrefix(said.String(), "lightloom: "))
	text, mend, _ := strings.Cut(text, "\nhint: ")
	return &console.ExitError{Code: max(exitCode(exit), 1), Err: taskError{text, mend}}
}

func exitCode(exit *exec.ExitError) int {
	if exit == nil {
		return 1
	}
	return exit.ExitCode()
}

// taskError is what a task said, with its hint.
type taskError struct{ text, mend string }

func (e taskError) Error() string { return e.text }
func (e taskError) Hint() string  { return e.mend }

// limited keeps the first bytes that are written.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	_, _ = l.Buffer.Write(p[:n]) // it never fails
	return len(p), nil
}
