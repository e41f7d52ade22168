package netns_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// roleEnv makes this test binary play a part instead of running tests.
const roleEnv = "NETNS_TEST_ROLE"

// reapChild makes the role "child" call Reap.
const reapChild = "NETNS_TEST_REAP"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
		netnstest.Main(m, os.Getenv("NETNS_TEST_ROOT") == "")
	default:
		os.Exit(play(role))
	}
}

// play is what a started process does.
func play(role string) int {
	switch role {
	case "parent": // enters and waits
		status, err := netns.Enter(context.Background(), nil,
			netns.EnterOptions{Env: []string{roleEnv + "=child"},
				Rootless: true, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return status
	case "child": // says where it is, starts a grandchild, and stays until its stdin ends or a signal comes
		return stay()
	case "status":
		return 7
	case "host":
		return describeHost()
	case "where":
		if _, err := netns.Prepare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		ns, _ := os.Readlink("/proc/self/ns/net")
		_, run := os.ReadDir("/run")
		fmt.Println(ns, os.Getpid(), os.Getuid(), netns.Inside(), run)
		return 0
	case "orphans":
		return leaveOrphans()
	case "for ever":
		<-time.After(time.Hour)
	}
	return 99
}

func stay() int {
	if os.Getenv(reapChild) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
		defer stop()
		if err := netns.Reap(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGINT, unix.SIGTERM)
	// A grandchild that would stay for ever: it is in the namespaces, so it goes with them.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"=for ever")
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ns, _ := os.Readlink("/proc/self/ns/net")
	fmt.Println(ns)
	ended := make(chan int, 1)
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); ended <- 0 }()
	select {
	case s := <-c:
		return 100 + int(s.(unix.Signal))
	case s := <-ended:
		return s
	}
}

// leaveOrphans runs a shell that leaves a child behind, and waits until that is collected. It prints its own process
// id, how the shell ended, and what descriptor 3 holds.
func leaveOrphans() int {
	if err := netns.Reap(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	three, err := io.ReadAll(os.NewFile(3, "three"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out, err := exec.Command("sh", "-c", "true >/dev/null & echo $!; exit 3").Output()
	fmt.Println(os.Getpid(), err, string(three))
	orphan, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for !errors.Is(unix.Kill(orphan, 0), unix.ESRCH) { // a process that has ended is there until it is collected
		<-time.After(time.Millisecond)
	}
	return 7
}

func self(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestEnter(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	here, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	status, err := netns.Enter(t.Context(), nil,
		netns.EnterOptions{Env: []string{roleEnv + "=where"}, Rootless: true,
			Stdout: &out, Stderr: os.Stderr})
	if err != nil || status != 0 {
		t.Fatalf("status %d, %v", status, err)
	}
	f := strings.Fields(out.String())
	if len(f) < 5 || f[0] == here || f[1] != "1" || f[2] != "0" || f[3] != "true" || f[4] != "<nil>" {
		t.Errorf("the child is at %q, and so is its parent at %q; want another namespace, pid 1, uid 0",
			out.String(), here)
	}
	if status, err := netns.Enter(t.Context(), nil, netns.EnterOptions{Env: []string{roleEnv + "=status"},
		Rootless: true}); status != 7 || err != nil {
		t.Errorf("status is %d, %v; want 7", status, err)
	}
}

// TestParentKilled kills the parent without mercy: the kernel must take child and namespace away.
func TestParentKilled(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	for _, c := range []struct {
		name string
		sig  unix.Signal
		want int // exit status of the parent, -1 if the signal ended it
	}{
		{"SIGKILL", unix.SIGKILL, -1},
		{"SIGTERM", unix.SIGTERM, 100 + int(unix.SIGTERM)},
		{"SIGINT", unix.SIGINT, 100 + int(unix.SIGINT)},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := self(t, "parent")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			ns := strings.TrimSpace(line)
			if len(holders(t, ns)) == 0 {
				t.Fatalf("no process is in %q although the child reports that it is", ns)
			}
			began := time.Now()
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.want {
				t.Errorf("the parent ended with %d, want %d", got, c.want)
			}
			for len(holders(t, ns)) > 0 {
				if time.Since(began) > time.Minute {
					t.Fatalf("processes %v are still in %q", holders(t, ns), ns)
				}
				<-time.After(time.Millisecond)
			}
			t.Logf("gone after %v", time.Since(began).Round(100*time.Microsecond))
		})
	}
}

// holders returns the processes in a network namespace.
func holders(t *testing.T, ns string) []int {
	t.Helper()
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if at, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid)); err == nil && at == ns {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestReap: what programs leave behind is collected, and the child still gets the status of its own programs, its
// descriptors, and signals.
func TestReap(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("three"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	status, err := netns.Enter(ctx, nil, netns.EnterOptions{Env: []string{roleEnv + "=orphans"}, Rootless: true,
		Reap: true, ExtraFiles: []*os.File{r}, Stdout: &out, Stderr: os.Stderr})
	if fields := strings.Fields(out.String()); status != 7 || err != nil || len(fields) == 0 || fields[0] == "1" ||
		!strings.Contains(out.String(), "exit status 3 three") {
		t.Errorf("status %d, %v, output %q; want 7 of a process that is not the first", status, err, &out)
	}

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	first := &firstLine{seen: make(chan struct{})}
	go func() { <-first.seen; cancel() }()
	stdin, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	defer stdin.Close()
	status, err = netns.Enter(ctx, nil, netns.EnterOptions{Env: []string{roleEnv + "=child", reapChild + "=yes"},
		Rootless: true, Reap: true, Stdin: stdin, Stdout: first, Grace: 10 * time.Second})
	if status != 100+int(unix.SIGTERM) && !errors.Is(err, context.Canceled) {
		t.Errorf("status %d, %v; want that of SIGTERM", status, err)
	}
}

func TestEnterCancelled(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	ctx, cancel := context.WithCancel(t.Context())
	r, w, err := os.Pipe() // a file: the child reads it itself
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	out := &firstLine{seen: make(chan struct{})}
	go func() { <-out.seen; cancel() }()
	status, err := netns.Enter(ctx, nil, netns.EnterOptions{Env: []string{roleEnv + "=child"},
		Rootless: true, Stdin: r,
		Stdout: out, Grace: time.Second})
	if status != 100+int(unix.SIGTERM) && !errors.Is(err, context.Canceled) {
		t.Errorf("status %d, %v; want that of SIGTERM", status, err)
	}
}

// firstLine closes seen at the first byte.
type firstLine struct{ seen chan struct{} }

func (f *firstLine) Write(p []byte) (int, error) {
	select {
	case <-f.seen:
	default:
		close(f.seen)
	}
	return len(p), nil
}

func TestBuildOutside(t *testing.T) {
	t.Setenv("LIGHTLOOM_OUTER_NETNS", "")
	if _, err := netns.Build(nil, netns.Options{}); err == nil || !strings.Contains(err.Error(), "Enter") {
		t.Errorf("built outside of namespaces: %v", err)
	}
}
