package labtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/southbound/noise"
)

// program is what users call the binary.
const program = "lightloom"

// MainWithProgram runs the tests of a package that uses the binary as its users do: it is built first,
// and is the first of its name on the path. Where tests look for races, it does so too.
func MainWithProgram(m *testing.M) {
	noise.Waiting(4)
	flag.Parse()
	if list := flag.Lookup("test.list"); list != nil && list.Value.String() != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "lightloom-built")
	if err == nil {
		err = errors.Join(build(dir), os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")),
			CollectRarely())
	}
	status := 1
	if err == nil {
		status = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// build has go run copy the binary: go run keeps what it has linked for the next package, and go build does not.
func build(dir string, flags ...string) error {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race",
		Value: "true"}) {
		flags = append(flags, "-race")
	}
	args := append(append([]string{"run", "-exec", "cp"}, flags...), "lightloom/cmd/lightloom",
		filepath.Join(dir, program))
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return nil
}

// BuildProgram builds another one, with flags of go build, into a directory.
func BuildProgram(t *testing.T, dir string, flags ...string) {
	t.Helper()
	if err := build(dir, flags...); err != nil {
		t.Fatal(err)
	}
}

// CopyProgram puts the binary into a directory.
func CopyProgram(t *testing.T, dir string) {
	t.Helper()
	built, err := exec.LookPath(program)
	if err == nil {
		err = os.Link(built, filepath.Join(dir, program))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Try runs a command line of the binary, and returns what it prints. What it says of a failure, hints
// too, is in the error.
func Try(ctx context.Context, args ...string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, &said)
	}
	return out.String(), nil
}

// Output is Try for a command that must succeed.
func Output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := Try(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// StartTarget has `target run` go on until the test ends, and returns its address.
func StartTarget(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, append([]string{"target", "run", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = said.WriteTo(&bytes.Buffer{}) // until it has ended
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(line, " on ")
	addr, _, ok := strings.Cut(rest, ",")
	if !ok {
		t.Fatalf("target run says %q", line)
	}
	return addr
}

// Pause lets a fault last.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Read is the text of a file.
func Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
