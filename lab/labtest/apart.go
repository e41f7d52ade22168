package labtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// apartEnv is set in the process that Apart starts.
const apartEnv = "LIGHTLOOM_TEST_APART"

// Apart runs a test in a process and a network namespace of its own, beside others of its package unless it measures: a
// user can have one fabric up in each namespace. It returns whether this is that process; where it is not, the test has
// ended there, and this one has nothing to do any more.
func Apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apartEnv) != "" {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			t.Fatalf("set loopback up: %v", err)
		}
		return true
	}
	canNetns(t, "netns", false)
	for _, name := range []string{"LIGHTLOOM_LONG", "LIGHTLOOM_MUST"} {
		_ = os.Getenv(name) // so that the test's result is not taken for one with other values
	}
	if os.Getenv("LIGHTLOOM_MEASURE") == "" {
		t.Parallel()
	}

	// The log of what was read and the profile belong to this process.
	args := slices.Concat(os.Args[1:], []string{"-test.run=^" + t.Name() + "$", "-test.v", "-test.testlogfile=",
		"-test.coverprofile="})
	if end, ok := t.Deadline(); ok {
		args = append(args, fmt.Sprint("-test.timeout=", time.Until(end)-10*time.Second))
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), apartEnv+"=yes")
	cmd.WaitDelay = 10 * time.Second // for what the test has left
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case bytes.Contains(out, []byte("\n--- SKIP: "+t.Name()+" ")):
		t.Skipf("%s", out)
	default:
		t.Logf("%s", out)
	}
	return false
}
