package up

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/demand"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/southbound"
)

// sendUnannounced writes to an address for a while and prints how many bytes went.
func sendUnannounced(_ context.Context, args []string) error {
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	c, err := net.DialTimeout("tcp", args[0], 5*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	block, sum := make([]byte, 64<<10), 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := c.SetDeadline(end.Add(5 * time.Second)); err != nil {
			return err
		}
		n, err := c.Write(block)
		if sum += n; err != nil {
			return err
		}
	}
	fmt.Println(sum)
	return nil
}

// receiveUnannounced takes one connection to its end.
func receiveUnannounced(context.Context, []string) error {
	ln, err := net.Listen("tcp", ":5201")
	if err != nil {
		return err
	}
	defer ln.Close()
	fmt.Println("listening")
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.Copy(io.Discard, c)
	return err
}

// TestUnannouncedGetsACircuit tests the promise of lightloom up: two programs send unannounced from
// rack 0 to rack 1, and their racks get a circuit, which carries their packets without any change to
// them. When they stop, it is removed.
func TestUnannouncedGetsACircuit(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	shared := labtest.UpNetns(t)
	keepUp(t, "hybrid:racks=3,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms", demand.FromCounters)
	const long = 4 * time.Second
	seconds := fmt.Sprint(int(long.Seconds()))
	for _, tc := range []struct {
		name           string
		server, client []string
	}{
		{"own", []string{"/proc/self/exe", receiveCommand},
			[]string{"/proc/self/exe", sendCommand, southbound.Addr(1, 0).String() + ":5201", long.String()}},
		{"iperf3", []string{"iperf3", "-s", "-1", "--forceflush"},
			[]string{"iperf3", "-c", southbound.Addr(1, 0).String(),
				"-t", seconds}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := exec.LookPath("iperf3"); tc.name == "iperf3" && err != nil {
				if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "iperf3") {
					t.Fatalf("LIGHTLOOM_MUST names iperf3: %v", err)
				}
				t.Skipf("apt-get install iperf3: %v", err)
			}
			shared.Measure(t, 4, func() error {
				listen(t, "h1-0", tc.server)
				sum, err := unannounced(t, tc.client)
				// 4 s at the 50 Mb/s of a path over packets are 25 MB at most: what is more went over the circuit.
				if tc.name == "own" && sum < 27_500_000 {
					err = errors.Join(err, fmt.Errorf("%d bytes went, want 27.5 MB and more", sum))
				}
				return err
			})
		})
	}
}

// unannounced runs a client in host h0-0 that sends to rack 1, and returns the number that it prints
// first. The error reports how late its circuit came or went, or that it never did while the client
// ran.
func unannounced(t *testing.T, argv []string) (number int, late error) {
	t.Helper()
	began := time.Now()
	client := exec.Command("/proc/self/exe", append([]string{execCommand, "h0-0"}, argv...)...)
	var said bytes.Buffer
	client.Stdout, client.Stderr = &said, &said
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Wait() }()
	over, came := false, false
	labtest.Await(t, "the circuit 0→1, or the client's end", func() bool {
		select {
		case err := <-ended:
			ended <- err
			over = true
		default:
		}
		came = lit(t, 0, 1)
		return came || over
	})
	// Counters are read every 250 ms; the second reading after it begins has seen a whole period, and a
	// move takes some 30 ms: about 0.6 s, where the processors are not others'.
	took := time.Since(began)
	t.Logf("lit (%v) after %v", came, took.Round(10*time.Millisecond))
	if !came || took > 3*time.Second {
		late = fmt.Errorf("lit (%v) after %v", came, took)
	}
	if err := <-ended; err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	after := time.Now()
	labtest.Await(t, "the circuit 0→1 to go", func() bool { return !lit(t, 0, 1) })
	took = time.Since(after)
	t.Logf("gone after %v; %s", took.Round(10*time.Millisecond), said.String())
	if took > 3*time.Second {
		late = errors.Join(late, fmt.Errorf("gone after %v", took))
	}
	_, _ = fmt.Sscan(said.String(), &number) // iperf3 says none
	return number, late
}

// keepUp keeps a fabric up until the test ends.
func keepUp(t *testing.T, fabric string, from demand.Source) {
	t.Helper()
	mark := fmt.Sprintf("LIGHTLOOM_TEST_MARK=up-%d-%d", os.Getpid(), time.Now().UnixNano())
	up := exec.Command("/proc/self/exe", upCommand, fabric, string(from))
	up.Env, up.Stderr = append(os.Environ(), mark), os.Stderr
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = up.Process.Signal(os.Interrupt)
		if err := up.Wait(); err != nil {
			t.Errorf("Ctrl-C: %v", err)
		}
		labtest.Await(t, "all processes to be gone", func() bool { return len(labtest.Marked(mark)) == 0 })
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "up: ") || !lines.Scan() ||
		!strings.HasPrefix(lines.Text(), "circuits by "+string(from)) {
		t.Fatalf("up says %q", lines.Text())
	}
}

// listen runs a command in a host and waits for its first output, which means that it listens.
func listen(t *testing.T, host string, argv []string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{execCommand, host}, argv...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(strings.ToLower(lines.Text()), "listening") {
			break
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() {
		}
		_ = cmd.Wait() // it is killed with its test at the latest
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
}

// lit reports whether status shows a circuit as in service.
func lit(t *testing.T, in, out southbound.Port) bool {
	t.Helper()
	var b bytes.Buffer
	if err := showStatus(context.Background(), session.StatusOptions{Output: console.OutputJSON,
		Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	var st session.Status
	if err := json.Unmarshal(b.Bytes(), &st); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(st.Circuits, func(c session.CircuitStatus) bool {
		return c.In == in && c.Out == out && c.Phase == "in-service"
	})
}
