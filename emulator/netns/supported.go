package netns

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Hinted is an error with a command to type, or a sentence on what to do.
type Hinted struct {
	err error
	fix string
}

func (e *Hinted) Error() string { return e.err.Error() }
func (e *Hinted) Unwrap() error { return e.err }

// Hint returns what to do.
func (e *Hinted) Hint() string { return e.fix }

// Supported returns an error if Enter cannot work here. For root it tries without a user namespace,
// else with one; with rootless also for root. It starts no program: it requests the namespaces for a
// file that does not exist, and the kernel's error shows how far it came. If there is a fix, the error
// is a *Hinted.
func Supported(rootless bool) error {
	_, err := syscall.ForkExec("/proc/self/no-such-program", []string{"probe"},
		&syscall.ProcAttr{Sys: attributes(rootless || !privileged())})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return explain(err)
}

// explain adds the fix to an error of clone(2) or of writing the id maps.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC) && zero("/proc/sys/user/max_user_namespaces"):
		return &Hinted{fmt.Errorf("make namespaces: user namespaces are switched off (user.max_user_namespaces is 0): %w",
			err),
			"sudo sysctl -w user.max_user_namespaces=15000"}
	case errors.Is(err, unix.ENOSPC):
		return &Hinted{fmt.Errorf("make namespaces: the limit of namespaces is reached: %w", err),
			"sudo sysctl -w user.max_net_namespaces=15000 user.max_user_namespaces=15000"}
	case errors.Is(err, unix.EPERM) && one("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"):
		return &Hinted{fmt.Errorf("make namespaces: AppArmor forbids user namespaces to ordinary users: %w", err),
			"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}
	case errors.Is(err, unix.EPERM) && zero("/proc/sys/kernel/unprivileged_userns_clone"):
		return &Hinted{fmt.Errorf("make namespaces: ordinary users may not make user namespaces "+
			"(kernel.unprivileged_userns_clone is 0): %w", err),
			"sudo sysctl -w kernel.unprivileged_userns_clone=1"}
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return &Hinted{fmt.Errorf("make namespaces: a security policy (seccomp of a container?) forbids namespaces: %w", err),
			"run outside of the container, or start it with --security-opt seccomp=unconfined"}
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS):
		return &Hinted{fmt.Errorf("make namespaces: the kernel lacks user, network, mount or process namespaces: %w", err),
			"use a kernel with CONFIG_USER_NS, CONFIG_NET_NS and CONFIG_PID_NS"}
	}
	return fmt.Errorf("make namespaces: %w", err)
}

func zero(path string) bool { return holds(path, "0") }
func one(path string) bool  { return holds(path, "1") }

func holds(path, want string) bool {
	b, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(b)) == want
}
