package netnstest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"lightloom/emulator/netns"
)

// Main runs a package's tests inside new namespaces, as the root of a user namespace if rootless or if
// the user is not root. Where that is not possible it runs them outside, and Need skips those that need
// it. Goroutines that are left at the end fail the run.
func Main(m *testing.M, rootless bool) {
	os.Exit(run(m, rootless))
}

func run(m *testing.M, rootless bool) int {
	if !netns.Inside() && netns.Supported(rootless) == nil {
		status, err := netns.Enter(context.Background(), os.Args[1:], netns.EnterOptions{Rootless: rootless,
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return status
	}
	if netns.Inside() {
		if _, err := netns.Prepare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	status := m.Run()
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}
