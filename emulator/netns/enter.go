package netns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// outerEnv is the variable that names the original network namespace to a re-executed process.
const outerEnv = "LIGHTLOOM_OUTER_NETNS"

// EnterOptions are what Enter passes to the process it starts.
type EnterOptions struct {
	Env            []string  // added to this process's environment
	Stdin          io.Reader // best an *os.File, which the child reads itself: Enter waits for the end of any other
	Stdout, Stderr io.Writer
	ExtraFiles     []*os.File    // descriptors 3 and on
	Rootless       bool          // a user namespace even for root: what an ordinary user gets
	Grace          time.Duration // from the end of ctx to SIGKILL; 0: 5 s

	// Reap puts a process before the child that collects the processes which programs leave behind, such as the parts
	// of a daemon: for a child that runs programs for days. The child must call the function Reap.
	Reap bool

	// Realtime lets the child and what it starts run before other programs, where this process may ask for
	// that. The kernel keeps a twentieth of the time for the others.
	Realtime bool
}

// Enter starts this program again with args, in new network, mount and process namespaces, and for an
// ordinary user in a new user namespace whose root it is. It returns the exit status, 128 + n after
// signal n, once that process has ended.
//
// SIGINT, SIGTERM and, unless this process ignores it, SIGHUP are forwarded (a terminal sends them to both, so the
// child may see two).
// If this process dies, however it dies, the kernel kills the child and all that it started: the child
// is the first process of its process namespace, or the second with Reap.
func Enter(ctx context.Context, args []string, opt EnterOptions) (status int, err error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	if exe, err := os.Executable(); err == nil {
		cmd.Args[0] = exe // what ps shows
	}
	outer, err := currentNetns()
	if err != nil {
		return 0, fmt.Errorf("enter namespaces: %w", err)
	}
	cmd.Env = append(append(os.Environ(), opt.Env...), outerEnv+"="+outer)
	if opt.Reap {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", reapEnv, 3+len(opt.ExtraFiles)))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = opt.Stdin, opt.Stdout, opt.Stderr, opt.ExtraFiles
	cmd.SysProcAttr = attributes(opt.Rootless || !privileged())
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	if cmd.WaitDelay = opt.Grace; opt.Grace == 0 {
		cmd.WaitDelay = 5 * time.Second
	}
	// The child dies with the thread that started it, so that thread waits for it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 8)
	ends := []os.Signal{unix.SIGINT, unix.SIGTERM}
	if !signal.Ignored(unix.SIGHUP) { // as nohup has it
		ends = append(ends, unix.SIGHUP)
	}
	signal.Notify(signals, ends...)
	defer signal.Stop(signals)
	if err := spawn(cmd, opt.Realtime); err != nil {
		return 0, explain(err)
	}
	ended := make(chan struct{})
	go forward(signals, cmd.Process, ended)
	err = cmd.Wait()
	close(ended)
	return exitStatus(cmd, err)
}

// spawn starts the child from a locked thread. A real-time child inherits the class of that thread, which
// has it no longer than that takes.
func spawn(cmd *exec.Cmd, realtime bool) error {
	if realtime {
		before, err := unix.SchedGetAttr(0, 0)
		if err == nil && BecomeRealtime() == nil {
			defer func() { _ = unix.SchedSetAttr(0, before, 0) }() // giving it up is always allowed
		}
	}
	return cmd.Start()
}

// BecomeRealtime lets the calling thread, which its goroutine must have locked, run before ordinary programs.
// Root may, and who has an RLIMIT_RTPRIO.
func BecomeRealtime() error {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
	if err := unix.SchedSetAttr(0, &a, 0); err != nil {
		return fmt.Errorf("run before other programs: %w", err)
	}
	return nil
}

// Realtime reports whether this process runs before ordinary programs.
func Realtime() bool {
	a, err := unix.SchedGetAttr(0, 0)
	return err == nil && (a.Policy == unix.SCHED_RR || a.Policy == unix.SCHED_FIFO)
}

// privileged reports whether this process can make namespaces as it is, and so can what it executes.
// The root of most containers may not, and is treated as an ordinary user.
func privileged() bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData // of 32 capabilities each
	if err := unix.Capget(&head, &caps[0]); err != nil {
		return os.Geteuid() == 0
	}
	return os.Geteuid() == 0 && caps[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

func attributes(rootless bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS,
		Pdeathsig: unix.SIGKILL}
	if rootless {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return a
}

func forward(signals <-chan os.Signal, p *os.Process, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case s := <-signals:
			_ = p.Signal(s) // it may have ended just now, which Wait reports
		}
	}
}

func exitStatus(cmd *exec.Cmd, err error) (int, error) {
	state := cmd.ProcessState
	if state == nil {
		return 0, err
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && state.Success() {
		return 0, err // of copying stdio
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return state.ExitCode(), nil
}

// currentNetns names the calling thread's network namespace.
func currentNetns() (string, error) {
	s, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return "", fmt.Errorf("read network namespace (is /proc mounted?): %w", err)
	}
	return s, nil
}
