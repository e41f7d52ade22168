package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
	"lightloom/southbound/marking"
)

// hostNamed finds a host by the name that the fabric gives it.
func hostNamed(f *topo.Fabric, name string) (southbound.HostID, error) {
	if n, ok := f.Topology.Named(name); ok && f.Topology.Node(n).Role == pathmap.Host {
		for h := f.FirstHost[f.Topology.Node(n).Rack]; ; h++ {
			if f.HostNode[h] == n {
				return southbound.HostID(h), nil
			}
		}
	}
	node := func(h int) string { return f.Topology.Node(f.HostNode[h]).Name }
	switches := fault.NewNames(f, 0).Known(fault.Switch)
	return 0, fmt.Errorf("there is no host or switch %q: hosts are %s to %s, switches %s to %s", name, node(0),
		node(f.Hosts()-1), switches[0], switches[len(switches)-1])
}

// startIn starts a command in a host, or beside the switches, which share one namespace.
func (s *keeper) startIn(name string, cmd *exec.Cmd) (status int, err error) {
	t := s.Topo.Topology
	if n, ok := t.Named(name); ok && t.Node(n).Role != pathmap.Host {
		return statusNotFound, s.Packets.Net.StartAtSwitches(name, cmd)
	}
	h, err := hostNamed(s.Topo, name)
	if err != nil {
		return statusUnknown, err
	}
	return statusNotFound, s.Packets.Net.StartNamed(h, name, cmd)
}

// ExecOptions are the options of the command exec.
type ExecOptions struct {
	Host    string   // a name such as h3-1, or that of a switch
	Command []string // empty: the user's shell

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// ExecAll runs a command in every host by a function such as Exec, one after the other, each behind a
// line that names it. Its error is that of the first host where the command failed.
func ExecAll(ctx context.Context, opt ExecOptions, run func(context.Context, ExecOptions) error) error {
	n, err := AskNames()
	if err != nil {
		return err
	}
	var first error
	for _, opt.Host = range n.Hosts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := fmt.Fprintf(opt.Stdout, "== %s ==\n", opt.Host); err != nil {
			return fmt.Errorf("exec: %w", err)
		}
		if err := run(ctx, opt); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// exec runs a command in a host or at a switch, forwards the client's signals, and returns the
// command's exit status.
func (s *keeper) exec(ctx context.Context, c *net.UnixConn, r request, files []*os.File) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Argv[0], r.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = files[0], files[1], files[2], r.Env, r.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !r.Terminal, Setsid: r.Terminal, Setctty: r.Terminal}
	if len(files) > 3 {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(files[3].Fd())
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if cmd.Err != nil {
		return statusNotFound, fmt.Errorf("exec in %s: %w", r.Host, cmd.Err)
	}
	if status, err := s.startIn(r.Host, cmd); err != nil {
		return status, fmt.Errorf("exec in %s: %w", r.Host, err)
	}
	go func() {
		defer cancel() // the client has gone: so does its command
		d := json.NewDecoder(c)
		for {
			var sig struct{ Signal int }
			if d.Decode(&sig) != nil {
				return
			}
			_ = syscall.Kill(-cmd.Process.Pid, syscall.Signal(sig.Signal)) // it may have ended just now
		}
	}()
	err := cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// Exit statuses of exec itself: a host that does not exist is a mistake in the command line; for a
// command that does not exist shells have one.
const (
	statusUnknown  = 2
	statusNotFound = 127
)

// Exec runs a command in a host of this user's running fabric. Its error is an ExitError with the
// command's status, or the reason why there is none. If standard input and output are a terminal, the
// command gets one of its own.
func Exec(_ context.Context, opt ExecOptions) (err error) {
	files, err := streams3(opt)
	if err != nil {
		return err
	}
	c, err := dialControl()
	if err != nil {
		return err
	}
	defer c.Close()
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	q := request{Host: opt.Host, Argv: opt.Command, Env: os.Environ(), Dir: dir}
	if len(q.Argv) == 0 {
		q.Argv = []string{cmp.Or(os.Getenv("SHELL"), "/bin/sh")}
	}
	signals := make(chan os.Signal, 8) // caught before the command can run, so that none ends this process instead
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	if term.IsTerminal(int(files[0].Fd())) && term.IsTerminal(int(files[1].Fd())) {
		t, err := openTerminal(files[0], files[1])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.close()) }()
		q.Terminal, files = true, []*os.File{t.slave, t.slave, t.slave}
	}
	if group := ownCgroup(); group != nil {
		defer group.Close()
		files = append(files, group)
	}
	if err := sendRequest(c, q, files...); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go forwardSignals(c, signals, done)
	return heardExit(c)
}

// ownCgroup opens the cgroup of this process, in which its command is to run, so that limits and tags
// of a service or a scope hold for it. It is nil where there is none but the root, and for users who
// cannot put processes anywhere.
func ownCgroup() *os.File {
	name, err := marking.Own()
	if err != nil || name == "" || os.Geteuid() != 0 {
		return nil
	}
	group, err := marking.OpenCgroup(name)
	if err != nil {
		return nil // exec works without
	}
	return group
}

// streams3 returns the standard streams as files, which can be passed to another process.
func streams3(opt ExecOptions) (files []*os.File, err error) {
	for _, x := range []any{opt.Stdin, opt.Stdout, opt.Stderr} {
		if w, ok := x.(io.Writer); ok {
			x = console.Raw(w)
		}
		f, ok := x.(*os.File)
		if !ok {
			return nil, errors.New("exec: standard streams must be files of the operating system")
		}
		files = append(files, f)
	}
	return files, nil
}

// forwardSignals tells the fabric what signals this process gets.
func forwardSignals(c *net.UnixConn, signals <-chan os.Signal, done <-chan struct{}) {
	enc := json.NewEncoder(c)
	for {
		select {
		case s := <-signals:
			_ = enc.Encode(struct{ Signal int }{int(s.(syscall.Signal))})
		case <-done:
			return
		}
	}
}

// heardExit waits for the command's exit status.
func heardExit(c *net.UnixConn) error {
	var r reply
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return fmt.Errorf("exec: the fabric went down: %w", err)
	}
	switch {
	case r.Error != "":
		return &console.ExitError{Code: r.Exit, Err: hint.New(r.Error, r.Hint)}
	case r.Exit != 0:
		return &console.ExitError{Code: r.Exit}
	}
	return nil
}
