package sweep

import (
	"bufio"
	"bytes"
	"cmp"
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

// ParseGroups reads what Text wrote.
func ParseGroups(text string) (all []Group, err error) {
	for word := range strings.SplitSeq(text, ",") {
		c, k, _ := strings.Cut(word, ".")
		g := Group{}
		var err1, err2 error
		g.Case, err1 = strconv.Atoi(c)
		g.Seed, err2 = strconv.Atoi(k)
		if err1 != nil || err2 != nil || g.Case < 0 || g.Seed < 0 {
			return nil, noGroup(word)
		}
		all = append(all, g)
	}
	return all, nil
}

func noGroup(word string) error {
	return fmt.Errorf("%.20q is no group of these runs: write case.seed, each from 0, such as 0.0", word)
}

// Groups reads what Text wrote. They must be of the sweep.
func (s *Sweep) Groups(text string) ([]Group, error) {
	all, err := ParseGroups(text)
	for i, g := range all {
		if g.Case >= len(s.cases) || g.Seed >= s.file.count {
			return nil, noGroup(Text(all[i : i+1]))
		}
	}
	return all, err
}

// OnLocal names the engine of this machine.
const OnLocal = "local"

// Local is the engine of this machine: so many processes at a time. Command starts one, which is told the groups to
// make, one a line, by its standard input, and ends with it; Serve is its other side.
type Local struct {
	Command []string
	Program string // the file that is started; empty: that of Command
	Workers int
}

// The words that a process writes, one a line.
const (
	madeRun   = "made"
	doneGroup = "done"
)

// Serve makes the groups that it reads, and says so after each run and each group.
func (s *Sweep) Serve(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	return Serve(ctx, stdin, stdout, s.Groups, s.Make)
}

// Serve has groups made that it reads, and says so after each run and each group.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, parse func(string) ([]Group, error),
	produce func(ctx context.Context, groups []Group, made func()) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := make(chan string)
	go func() { // ends with the process
		for in := bufio.NewScanner(stdin); in.Scan(); {
			lines <- in.Text()
		}
		cancel(errors.New("the sweep that asked for these runs has ended"))
		close(lines)
	}()
	for line := range lines {
		groups, err := parse(line)
		if err != nil {
			return err
		}
		if err := produce(ctx, groups, func() { fmt.Fprintln(stdout, madeRun) }); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(stdout, doneGroup); err != nil {
			return fmt.Errorf("tell of runs: %w", err)
		}
	}
	return nil
}

// Engine makes runs by processes. A process that is killed is no error: what it was at is still missing.
func (l Local) Engine(ctx context.Context, groups []Group, made func()) error {
	all, ctx := errgroup.WithContext(ctx)
	queue := make(chan Group)
	all.Go(func() error {
		defer close(queue)
		for _, g := range groups {
			select {
			case queue <- g:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	var mu sync.Mutex
	for range min(l.Workers, len(groups)) {
		all.Go(func() error {
			for g := range queue {
				err := l.process(ctx, g, queue, func() {
					mu.Lock()
					defer mu.Unlock()
					made()
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// mostSaid bounds what is kept of a task's words.
const mostSaid = 1 << 14

// process runs a process that makes a group and then those of the queue, until there are none or it is killed.
func (l Local) process(ctx context.Context, first Group, queue <-chan Group, made func()) error {
	c := exec.CommandContext(ctx, l.Command[0], l.Command[1:]...)
	c.Path = cmp.Or(l.Program, c.Path)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	c.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(max(1, runtime.GOMAXPROCS(0)/l.Workers)))
	said := &limited{left: mostSaid}
	c.Stderr = said
	in, err := c.StdinPipe() // ends when this process does
	if err != nil {
		return fmt.Errorf("start task: %w", err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start task: %w", err)
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start task: %w", err)
	}
	lines := bufio.NewScanner(out)
	for g, more := first, true; more && ask(in, lines, g, made); {
		g, more = <-queue
	}
	_ = in.Close() // it may have ended itself
	err = c.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.As(err, &exit) && (exit.ExitCode() < 0 || exit.ExitCode() == interrupted): // killed
		return nil
	}
	return said.failed(max(exitCode(exit), 1))
}

// interrupted is the exit status of a process that was told to end.
const interrupted = 130

// ask has a process make a group, and reports whether it did.
func ask(in io.Writer, lines *bufio.Scanner, g Group, made func()) bool {
	if _, err := fmt.Fprintln(in, Text([]Group{g})); err != nil {
		return false
	}
	for lines.Scan() && lines.Text() != doneGroup {
		made()
	}
	return lines.Text() == doneGroup
}

// failed is the error of a process that said so.
func (l *limited) failed(code int) error {
	text := strings.TrimSpace(strings.TrimPrefix(l.String(), "lightloom: "))
	text, mend, _ := strings.Cut(text, "\nhint: ")
	return &console.ExitError{Code: code, Err: taskError{text, mend}}
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
