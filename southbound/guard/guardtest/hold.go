// Package guardtest holds connections open that say nothing, so that tests can see what servers make of
// them. It attacks loopback addresses only.
package guardtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Hold keeps n silent connections to a loopback address until the test ends: each that is closed is
// opened again after half to one and a half of pause. It returns once all have been open.
func Hold(t testing.TB, addr string, n int, pause time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := hold(ctx, addr, n, pause)
	t.Cleanup(func() {
		cancel()
		wait()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hold(ctx context.Context, addr string, n int, pause time.Duration) (wait func(), err error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil || !at.IP.IsLoopback() {
		return func() {}, fmt.Errorf("hold connections to %q: it is no loopback address: %w", addr, err)
	}
	var all, first sync.WaitGroup
	first.Add(n)
	for i := range n {
		own := pause/2 + pause*time.Duration(i)/time.Duration(n) // so that they do not all come at once
		all.Go(func() {
			opened := sync.OnceFunc(first.Done)
			defer opened()
			for ctx.Err() == nil {
				var d net.Dialer
				c, err := d.DialContext(ctx, "tcp", addr)
				if err == nil || errors.Is(err, unix.ECONNRESET) { // a full server ends it before the dial returns
					opened()
				}
				if err == nil {
					stop := context.AfterFunc(ctx, func() { c.Close() })
					_, _ = c.Read(make([]byte, 1)) // until it is closed
					stop()
					c.Close()
				}
				select {
				case <-ctx.Done():
				case <-time.After(own):
				}
			}
		})
	}
	first.Wait()
	return all.Wait, nil
}

// The environment of a process that holds connections: address, number, pause.
const addrEnv, countEnv, pauseEnv = "LIGHTLOOM_TEST_HOLD", "LIGHTLOOM_TEST_HOLD_COUNT", "LIGHTLOOM_TEST_HOLD_PAUSE"

// Main is for TestMain: in a process that Process has started it holds connections until its standard
// input ends, and returns true.
func Main() bool {
	addr := os.Getenv(addrEnv)
	if addr == "" {
		return false
	}
	n, err1 := strconv.Atoi(os.Getenv(countEnv))
	pause, err2 := time.ParseDuration(os.Getenv(pauseEnv))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := hold(ctx, addr, n, pause)
	if err1 != nil || err2 != nil || err != nil {
		fmt.Fprintln(os.Stderr, "hold connections:", err1, err2, err)
		return true
	}
	fmt.Println("standing")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent process ends
	return true
}

// Process is Hold in a process of its own, whose descriptors are not this one's. The test's TestMain
// must call Main.
func Process(t testing.TB, addr string, n int, pause time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), addrEnv+"="+addr, countEnv+"="+strconv.Itoa(n), pauseEnv+"="+pause.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "standing\n" {
		t.Fatalf("hold connections: %q, %v", line, err)
	}
}
