package labtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"lightloom/controller/server"
	"lightloom/lab/console"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound/noise"
)

// Main runs the tests of a package that runs packets, in a binary that is also what such runs start:
// the process inside, a replica, and the package's own commands, which get their arguments. The own
// come first. Runs on packets mostly wait, so parallel can be more than there are processors.
func Main(m *testing.M, parallel int, own map[string]func(ctx context.Context, args []string) error) {
	ctx := context.Background()
	var err error
	arg := slices.Concat(os.Args, []string{""})[1]
	switch command := own[arg]; {
	case command != nil:
		err = command(ctx, os.Args[2:])
	case arg == emulated.InsideCommand:
		err = emulated.Inside(ctx, os.Stderr, session.Keep)
	case arg == server.ReplicaCommand:
		err = server.RunReplica(ctx, os.Stdin, os.Stderr)
	default:
		noise.Waiting(parallel)
		if err = CollectRarely(); err == nil {
			os.Exit(m.Run())
		}
	}
	var exit *console.ExitError
	if errors.As(err, &exit) && exit.Err == nil {
		os.Exit(exit.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// CollectRarely lets programs that tests start have five times what is live before they collect garbage, and not twice:
// a quarter of their processor time went there. Where a test measures, it changes nothing.
func CollectRarely() error {
	if os.Getenv("GOGC") != "" || os.Getenv("LIGHTLOOM_MEASURE") != "" {
		return nil
	}
	debug.SetGCPercent(400)
	return os.Setenv("GOGC", "400")
}

// Hanging is how long these tests wait for what must come; nothing takes a tenth of it on a quiet machine.
const Hanging = 3 * time.Minute

// Await polls a condition that nothing announces, up to a deadline.
func Await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(Hanging)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited too long for %s", what)
		case <-tick.C:
		}
	}
}

// Marked returns the processes whose environment holds a mark.
func Marked(mark string) (pids []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil && slices.Contains(SplitAtZeros(b), mark) {
			pids = append(pids, filepath.Base(filepath.Dir(n)))
		}
	}
	return pids
}

// SplitAtZeros splits what /proc has of arguments and environments.
func SplitAtZeros(b []byte) (out []string) {
	for _, f := range bytes.Split(b, []byte{0}) {
		out = append(out, string(f))
	}
	return out
}
