package up

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
)

// TestRatesOnPackets: on real packets the controller comes to know the rates of links from its
// switches' streams, and status shows what passes them.
func TestRatesOnPackets(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	up := exec.Command("/proc/self/exe", upCommand)
	up.Env = append(os.Environ(), "LIGHTLOOM_VERBOSE=1")
	log, err := up.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	defer up.Process.Kill()
	said := make(chan string, 1)
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		for s := bufio.NewScanner(log); s.Scan(); {
			if strings.Contains(s.Text(), "rates of links are known") {
				select {
				case said <- s.Text():
				default:
				}
			}
		}
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "up: ") {
		t.Fatalf("up says %q, want that it is up", lines.Text())
	}
	ctx, cancel := context.WithTimeout(t.Context(), labtest.Hanging)
	defer cancel()
	select {
	case text := <-said:
		t.Log(text)
	case <-ctx.Done():
		t.Fatal("the controller knows of no link's rate")
	}
	labtest.Await(t, "status to show what passes links", func() bool {
		var b bytes.Buffer
		var st session.Status
		if err := showStatus(ctx, session.StatusOptions{Output: console.OutputJSON, Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &st); err != nil {
			t.Fatal(err)
		}
		passes := func(l emulated.LinkStatus) bool { return l.Span > 0 && l.Rate > 0 }
		return slices.ContainsFunc(st.Rates, passes) && slices.ContainsFunc(st.View, passes)
	})
	var b bytes.Buffer // only what replicas and probes say passes, which is little
	if err := showStatus(ctx, session.StatusOptions{Output: console.OutputTable, Stdout: &b}); err != nil ||
		!strings.Contains(b.String(), "Mbit/s") && !strings.Contains(b.String(), "links: none is busy") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := up.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-logged
	if err := up.Wait(); err != nil {
		t.Error(fmt.Errorf("Ctrl-C: %w", err))
	}
}
