package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/scenario"
	"lightloom/cmd/lightloom/internal/testbed/emulated"
	"lightloom/emulator/netns"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// Up keeps a fabric and its controller running until ctx ends.
func Up(ctx context.Context, opt scenario.Options, stdout, stderr io.Writer) error {
	if err := netns.Supported(false); err != nil {
		return fmt.Errorf("build the fabric: %w", err)
	}
	s, err := scenario.Prepare(withoutTrace(opt), 1)
	if err != nil {
		return err
	}
	if err := errors.Join(southbound.CheckPackets(s.Spec), s.Delays.OnPackets()); err != nil {
		return err
	}
	if capacity, _ := scenario.Capacity(); scenario.PortRates(s)*scenario.LoadShare > capacity {
		fmt.Fprintf(stderr, "note: this fabric's ports sum to %v, more than a quarter of the %v that this machine is "+
			"taken to carry: at full load its cores set the pace, not its links\n",
			scenario.PortRates(s), capacity)
	}
	control, err := listenControl()
	if err != nil {
		return err
	}
	defer control.Close()
	o := emulated.ChildConfig{Scenario: *s.Scenario(s.Rows[0]), Stay: true}
	o.Jobs = nil
	if opt.State != "" {
		if o.State, err = stateSeenInside(opt.State); err != nil {
			return err
		}
	}
	began := time.Now()
	err = emulated.InNamespaces(ctx, o, emulated.Options{Stderr: stderr}, control, func(w *emulated.Event) {
		if w.Ready {
			fmt.Fprintf(stdout, "up: %s, %d controllers, policy %s; %d switches and %d hosts in %.1f s\n", o.Row.Spec,
				o.Replicas, o.Row.Policy,
				len(s.Fabric.Topology.Nodes())-s.Fabric.Hosts(), s.Fabric.Hosts(), time.Since(began).Seconds())
			if o.Row.Spec.HasOCS() && s.UsesCircuits(o.Row.Policy) {
				fmt.Fprintf(stdout, "circuits by %v; a pair of racks gets one from %d bytes on\n", o.Row.Demand,
					int64(o.ElephantThreshold))
			}
			fmt.Fprintln(stdout, "try:  lightloom status\n      lightloom exec "+
				s.Fabric.Topology.Node(s.Fabric.HostNode[0]).Name+" -- ping -c 3 "+
				southbound.Addr(southbound.RackID(min(1, s.Fabric.Racks-1)), 0).String()+"\nCtrl-C ends it.")
		}
	})
	if errors.Is(err, context.Canceled) {
		left := "nothing is left behind"
		if opt.State != "" {
			left = "the replicas' logs are left in " + opt.State
		}
		fmt.Fprintln(stdout, "down:", left)
		return nil
	}
	return err
}

// stateSeenInside is the path of a state directory in the process inside, which has a /run of its own.
func stateSeenInside(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", hint.New(fmt.Sprintf("open state: %q is not there", dir), "found a cluster: lightloom cluster init "+dir+
			" --fabric FABRIC")
	case err != nil:
		return "", fmt.Errorf("open state: %w", err)
	case strings.HasPrefix(path+"/", "/run/"):
		return "", hint.New(fmt.Sprintf("open state: %q is below /run, which the fabric has one of its own of", dir),
			"name a directory elsewhere, such as /var/lib/lightloom")
	}
	return path, nil
}

// withoutTrace prepares options for a fabric that waits for jobs: one synthetic job takes the place of those to come.
func withoutTrace(opt scenario.Options) scenario.Options {
	opt.Trace, opt.Workload, opt.Coflows = "", "", 1
	return opt
}

// keeper serves the commands of a user whose fabric is up.
type keeper struct{ *emulated.Testbed }

// Keep serves exec, status and the like on a listening socket until ctx ends.
func Keep(ctx context.Context, s *emulated.Testbed, control *os.File) error {
	ln, err := net.FileListener(control)
	control.Close()
	if err != nil {
		return fmt.Errorf("serve control socket: %w", err)
	}
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		c, err := ln.Accept()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("serve control socket: %w", err)
		}
		wg.Go(func() {
			defer c.Close()
			(&keeper{s}).answer(ctx, c.(*net.UnixConn))
		})
	}
}

// answer serves one client.
func (s *keeper) answer(ctx context.Context, c *net.UnixConn) {
	say := func(r reply) { _ = json.NewEncoder(c).Encode(r) } // a client that has gone wants no answer
	if err := samePeer(c, os.Getuid()); err != nil {
		return
	}
	r, files, err := receiveRequest(c)
	if err != nil {
		say(reply{Error: err.Error()})
		return
	}
	defer closeAll(files)
	switch {
	case r.Status:
		st, err := s.status(ctx)
		if err != nil {
			say(reply{Error: err.Error()})
			return
		}
		say(reply{Status: st})
	case r.Capture != nil && len(files) == 1:
		res, err := s.serveCapture(ctx, c, *r.Capture, files[0])
		if err != nil {
			say(reply{Error: err.Error()})
			return
		}
		say(reply{Capture: res})
	case r.Audit != nil:
		res, err := s.serveAudit(ctx, c, *r.Audit)
		if err != nil {
			say(reply{Error: err.Error()})
			return
		}
		say(reply{Survey: res})
	case r.Fault != nil:
		say(s.serveBreak(ctx, *r.Fault))
	case r.Reserve != nil:
		say(s.serveReserve(ctx, r.Reserve))
	case len(r.Submit) > 0:
		say(reply{Submit: s.serveSubmit(ctx, r.Submit)})
	case r.Cancel != "":
		say(s.serveCancel(ctx, r.Cancel))
	case r.Fibre != nil:
		if err := s.serveFibre(*r.Fibre); err != nil {
			say(reply{Error: err.Error()})
			return
		}
		say(reply{})
	case len(r.Argv) > 0 && len(files) == 3:
		code, err := s.exec(ctx, c, r, files)
		if err != nil {
			say(reply{Error: err.Error(), Exit: code})
			return
		}
		say(reply{Exit: code})
	default:
		say(reply{Error: "the request asks for nothing that is known"})
	}
}

// exec runs a command in a host, forwards the client's signals, and returns the command's exit status.
func (s *keeper) exec(ctx context.Context, c *net.UnixConn, r request, files []*os.File) (int, error) {
	h, err := hostNamed(s.Topo, r.Host)
	if err != nil {
		return statusNotFound, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Argv[0], r.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = files[0], files[1], files[2], r.Env, r.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if cmd.Err != nil {
		return statusNotFound, fmt.Errorf("exec in %s: %w", r.Host, cmd.Err)
	}
	if err := s.Packets.Net.Start(h, cmd); err != nil {
		return statusNotFound, fmt.Errorf("exec in %s: %w", r.Host, err)
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
	err = cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// statusNotFound is the shells' exit status for a command that does not exist.
const statusNotFound = 127

// Exec runs a command in a host of this user's running fabric. Its error is an ExitError with the command's status, or
// the reason why there is none.
func Exec(ctx context.Context, opt ExecOptions) error {
	var files []*os.File
	for _, x := range []any{opt.Stdin, opt.Stdout, opt.Stderr} {
		f, ok := x.(*os.File)
		if !ok {
			return errors.New("exec: standard streams must be files of the operating system")
		}
		files = append(files, f)
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
	signals := make(chan os.Signal, 8) // caught before the command can run, so that none ends this process instead
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	if err := sendRequest(c, request{Host: opt.Host, Argv: opt.Command, Env: os.Environ(), Dir: dir},
		files...); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		enc := json.NewEncoder(c)
		for {
			select {
			case s := <-signals:
				_ = enc.Encode(struct{ Signal int }{int(s.(syscall.Signal))})
			case <-done:
				return
			}
		}
	}()
	var r reply
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return fmt.Errorf("exec: the fabric went down: %w", err)
	}
	if r.Error != "" {
		return &console.ExitError{Code: r.Exit, Err: hint.New(r.Error, r.Hint)}
	}
	if r.Exit != 0 {
		return &console.ExitError{Code: r.Exit}
	}
	return nil
}
