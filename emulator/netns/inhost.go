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

// InHost runs do on a thread that is in the namespace of a host meanwhile. What do opens (sockets, listeners, child
// processes) stays there; goroutines that it starts do not. do should be short, and must not unlock its thread.
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

// inside runs do in namespace ns and returns the thread to home. A thread that cannot return stays locked, so that it
// ends with this goroutine and runs no other goroutine.
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
	return f.InHost(h, func() error {
		// An ignored SIGINT is inherited (a shell starts background jobs so); a caught one is reset by exec.
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, unix.SIGINT)
		defer signal.Stop(caught)
		return cmd.Start()
	})
}
