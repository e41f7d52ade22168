package up

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
)

// TestUp keeps a fabric up as a user would: status, commands in hosts with their streams, statuses and
// signals, a second fabric that is refused, and an end that leaves nothing.
func TestUp(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	mark := fmt.Sprintf("LIGHTLOOM_TEST_MARK=up-%d-%d", os.Getpid(), time.Now().UnixNano())
	up := exec.Command("/proc/self/exe", upCommand)
	up.Env, up.Stderr = append(os.Environ(), mark), os.Stderr
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	defer up.Process.Kill()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "up: ") {
		t.Fatalf("up says %q, want that it is up", lines.Text())
	}

	var b bytes.Buffer
	if err := showStatus(context.Background(), session.StatusOptions{Output: console.OutputJSON,
		Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	var st session.Status
	if err := json.Unmarshal(b.Bytes(), &st); err != nil {
		t.Fatal(err)
	}
	if len(st.Switches) != 6 || len(st.Replicas) != 3 || st.Leader == "" || len(st.Routes) != 6 {
		t.Errorf("status %+v: want 6 switches, 3 replicas, a leader, 6 routes", st)
	}
	t.Run("streams", func(t *testing.T) {
		cmd := exec.Command("/proc/self/exe", execCommand, "h1-0", "cat")
		cmd.Stdin = strings.NewReader("through the fabric's host\n")
		if got, err := cmd.Output(); err != nil || string(got) != "through the fabric's host\n" {
			t.Errorf("cat says %q, %v", got, err)
		}
	})
	t.Run("host", func(t *testing.T) {
		got, err := exec.Command("/proc/self/exe", execCommand, "h1-0", "cat", "/proc/net/fib_trie").Output()
		if err != nil || !strings.Contains(string(got), "10.0.1.1") ||
			strings.Contains(string(got), "10.0.1.2\n") {
			t.Errorf("the host's addresses are %q, %v; want 10.0.1.1", got, err)
		}
	})
	t.Run("status", func(t *testing.T) {
		var exit *exec.ExitError
		if err := exec.Command("/proc/self/exe", execCommand, "h0-0", "sh", "-c",
			"exit 7").Run(); !errors.As(err, &exit) ||
			exit.ExitCode() != 7 {
			t.Errorf("exit 7 gives %v", err)
		}
	})
	t.Run("signal", func(t *testing.T) {
		cmd := exec.Command("/proc/self/exe", execCommand, "h0-0", "sh", "-c",
			"trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done")
		p, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		if s := bufio.NewScanner(p); !s.Scan() {
			t.Fatal("the command says nothing")
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 9 {
			t.Errorf("SIGTERM gives %v, want status 9", err)
		}
	})
	t.Run("names", func(t *testing.T) {
		got, err := exec.Command("/proc/self/exe", execCommand, "h1-0", "sh", "-c",
			"getent ahostsv4 h0-0; uname -n").Output()
		if err != nil || !strings.Contains(string(got), "10.0.0.1") ||
			!strings.Contains(string(got), "\nh1-0\n") {
			t.Errorf("%q, %v: want the address of h0-0, and h1-0 as the machine's name", got, err)
		}
	})
	t.Run("jobs", func(t *testing.T) { jobsOfUp(t) })
	t.Run("faults", func(t *testing.T) { faultsOfUp(t) })
	t.Run("reservations", func(t *testing.T) { reservationsOfUp(t) })
	t.Run("page", func(t *testing.T) { pageOfUp(t) })
	t.Run("crowd", func(t *testing.T) { crowdOfUp(t) })
	t.Run("switches", func(t *testing.T) {
		got, err := exec.Command("/proc/self/exe", execCommand, "tor0", "sh", "-c",
			"ls /sys/class/net; cat /proc/net/dev; "+
				"uname -n").CombinedOutput()
		if err != nil || !strings.Contains(string(got), "tor0-0") ||
			!strings.HasSuffix(string(got), "\ntor0\n") {
			t.Errorf("%q, %v: want the interfaces of tor0, and tor0 as the machine's name", got, err)
		}
	})
	t.Run("wrong names", func(t *testing.T) {
		var exit *console.ExitError
		for _, f := range []fault.Fault{{Kind: fault.Link, Name: "tor0-spine9"},
			{Kind: fault.Host, Name: "h9-9"}} {
			err := session.Break(t.Context(), session.BreakOptions{Fault: f, Stdout: io.Discard})
			if !errors.As(err, &exit) || exit.Code != 2 || !strings.Contains(err.Error(), "there is no") {
				t.Errorf("%v: %v, want status 2", f, err)
			}
		}
		err := session.Capture(t.Context(), session.CaptureOptions{Port: "tor9:1",
			File:    filepath.Join(t.TempDir(), "x"),
			SnapLen: 100, Stdout: io.Discard, Stderr: io.Discard})
		if !errors.As(err, &exit) || exit.Code != 2 || !strings.Contains(err.Error(), "tor9:1") {
			t.Errorf("capture at tor9:1: %v, want status 2", err)
		}
	})
	t.Run("no such host", func(t *testing.T) {
		got, err := exec.Command("/proc/self/exe", execCommand, "h9-9", "true").CombinedOutput()
		if err == nil || !strings.Contains(string(got), "h0-0 to h2-1, switches tor0 to ") {
			t.Errorf("%q, %v: want an error that names the hosts", got, err)
		}
	})
	t.Run("second fabric", func(t *testing.T) {
		got, err := exec.Command("/proc/self/exe", upCommand).CombinedOutput()
		if err == nil || !strings.Contains(string(got), "another lightloom up") {
			t.Errorf("%q, %v: want an error that says another one runs", got, err)
		}
	})

	if err := session.Down(t.Context(), console.OutputTable, &b); err != nil {
		t.Fatal(err)
	}
	if err := up.Wait(); err != nil {
		t.Errorf("down: %v", err)
	}
	labtest.Await(t, "all processes to be gone", func() bool { return len(labtest.Marked(mark)) == 0 })
	if err := showStatus(context.Background(), session.StatusOptions{Output: console.OutputJSON,
		Stdout: &b}); err == nil ||
		!strings.Contains(err.Error(), "no fabric") {
		t.Errorf("status of nothing: %v", err)
	}
}
