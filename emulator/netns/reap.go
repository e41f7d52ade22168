package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// reapEnv tells the first process of the namespaces to be a reaper, and how many descriptors to hand on.
const reapEnv = "LIGHTLOOM_REAP"

// Reap returns at once in all processes but the one that Enter's option Reap puts first. There it does that one's work,
// and does not return unless it cannot: it starts this program again, as the second process of the namespaces, and
// waits for that and for whatever programs leave behind, which the kernel makes children of the first process. The
// second cannot do so itself: it would take the status of programs that other parts of it wait for. The end of ctx
// reaches it as SIGTERM. Call it before anything is read from inherited descriptors.
func Reap(ctx context.Context) error {
	descriptors := os.Getenv(reapEnv)
	if descriptors == "" {
		return nil
	}
	status, err := reap(ctx, descriptors)
	if err != nil {
		return fmt.Errorf("reap processes: %w", err)
	}
	os.Exit(status)
	return nil
}

func reap(ctx context.Context, descriptors string) (status int, err error) {
	n, err := strconv.Atoi(descriptors)
	if err != nil || n < 3 {
		return 0, fmt.Errorf("%s is %q, and no number of descriptors", reapEnv, descriptors)
	}
	attr := os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Env: slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, reapEnv+"=") }),
		// Keys that stop what runs in a terminal must not stop the second process, as they do not stop a first one.
		Sys: &syscall.SysProcAttr{Setpgid: true}}
	for fd := 3; fd < n; fd++ {
		attr.Files = append(attr.Files, os.NewFile(uintptr(fd), "inherited"))
	}
	second, err := os.StartProcess("/proc/self/exe", os.Args, &attr)
	if err != nil {
		return 0, err
	}
	for _, f := range attr.Files[3:] { // their other ends must see the second one's end
		f.Close()
	}
	defer context.AfterFunc(ctx, func() { _ = second.Signal(unix.SIGTERM) })()
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case pid == second.Pid && ws.Signaled():
			return 128 + int(ws.Signal()), nil
		case pid == second.Pid:
			return ws.ExitStatus(), nil
		}
	}
}
