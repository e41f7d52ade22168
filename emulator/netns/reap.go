package netns

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reapEnv tells the first process of the namespaces to be a reaper, and how many descriptors to hand on.
const reapEnv = "LIGHTLOOM_REAP"

// reap is the whole life of a reaper: it starts this program again, as the second process of the namespaces, and
// waits for that and for whatever programs leave behind, which the kernel makes children of the first process. It
// returns the exit status of the second. The second cannot do so itself: it would take the status of programs that
// other parts of it wait for.
func reap(descriptors string) (status int, err error) {
	n, err := strconv.Atoi(descriptors)
	if err != nil || n < 3 {
		return 0, fmt.Errorf("reap processes: %s is %q, and no number of descriptors", reapEnv, descriptors)
	}
	attr := os.ProcAttr{Env: slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, reapEnv+"=")
	})}
	for fd := range n {
		attr.Files = append(attr.Files, os.NewFile(uintptr(fd), "inherited"))
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(signals)
	second, err := os.StartProcess("/proc/self/exe", os.Args, &attr)
	if err != nil {
		return 0, fmt.Errorf("reap processes: %w", err)
	}
	for _, f := range attr.Files[3:] { // their other ends must see the second one's end
		f.Close()
	}
	ended := make(chan struct{})
	defer close(ended)
	go forward(signals, second, ended)
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("reap processes: %w", err)
		case pid == second.Pid && ws.Signaled():
			return 128 + int(ws.Signal()), nil
		case pid == second.Pid:
			return ws.ExitStatus(), nil
		}
	}
}
