package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// InHost runs do on a thread that is in the namespace of a host meanwhile. What do opens (sockets,
// listeners, child processes) stays there; goroutines that it starts do not. do should be short, and
// must not unlock its thread.
func (f *Fabric) InHost(h southbound.HostID, do func() error) error {
	if h < 0 || int(h) >= len(f.hosts) {
		return fmt.Errorf("enter host %d: the fabric's hosts are 0 to %d", h, len(f.hosts)-1)
	}
	done := make(chan error, 1)
	go func() { inside(f.hosts[h].ns, f.home, do, done) }()
	if err := <-done; err != nil {
		return fmt.Errorf("in host %d: %w", h, err)
	}
	return nil
}

// errLeft is the answer when do ended its goroutine instead of returning (a test that failed).
var errLeft = errors.New("the function did not return")

// inside runs do in namespace ns and returns the thread to home. A thread that cannot return stays
// locked, so that it ends with this goroutine and runs no other goroutine.
func inside(ns, home int, do func() error, done chan<- error) {
	runtime.LockOSThread()
	err := errLeft
	defer func() {
		if back := unix.Setns(home, unix.CLONE_NEWNET); back != nil {
			err = errors.Join(err, fmt.Errorf("return to the switches' namespace: %w", back))
		} else {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	if enter := unix.Setns(ns, unix.CLONE_NEWNET); enter != nil {
		err = fmt.Errorf("enter namespace: %w", enter)
		return
	}
	err = do()
}

// Start starts a command in a host. The caller waits for it. It is killed with this process at the latest.
func (f *Fabric) Start(h southbound.HostID, cmd *exec.Cmd) error {
	return f.start(h, cmd, func() error { return start(cmd) })
}

func (f *Fabric) start(h southbound.HostID, cmd *exec.Cmd, do func() error) error {
	forgetOuter(cmd)
	return f.InHost(h, do)
}

// forgetOuter takes from a command's environment what names the namespaces outside.
func forgetOuter(cmd *exec.Cmd) {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	env := make([]string, 0, len(cmd.Env))
	for _, e := range cmd.Env {
		if !strings.HasPrefix(e, outerEnv+"=") {
			env = append(env, e)
		}
	}
	cmd.Env = env
}

// StartNamed is Start of a command that sees the host's name as that of its machine, so that prompts
// show it.
func (f *Fabric) StartNamed(h southbound.HostID, name string, cmd *exec.Cmd) error {
	return f.start(h, cmd, func() error { return named(name, func() error { return start(cmd) }) })
}

// StartAtSwitches is StartNamed in the namespace that all switches share.
func (f *Fabric) StartAtSwitches(name string, cmd *exec.Cmd) error {
	forgetOuter(cmd)
	done := make(chan error, 1)
	go func() {
		inside(f.home, f.home, func() error { return named(name, func() error { return start(cmd) }) }, done)
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("at the switches: %w", err)
	}
	return nil
}

// named runs do on this locked thread with another machine's name. A thread that cannot return from it
// stays locked.
func named(name string, do func() error) error {
	home, err := os.Open("/proc/self/ns/uts")
	if err != nil {
		return fmt.Errorf("find the machine's name: %w", err)
	}
	defer home.Close()
	if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("take another machine's name: %w", err)
	}
	err = unix.Sethostname([]byte(name))
	if err == nil {
		err = do()
	}
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWUTS); back != nil {
		runtime.LockOSThread() // once more than it is unlocked
		err = errors.Join(err, fmt.Errorf("return to the machine's name: %w", back))
	}
	return err
}

func start(cmd *exec.Cmd) error {
	// An ignored SIGINT is inherited (a shell starts background jobs so); a caught one is reset by exec.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGINT)
	defer signal.Stop(caught)
	return cmd.Start()
}
