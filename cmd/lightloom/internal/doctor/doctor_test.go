package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap"
)

// TestMain is also the process that answers from inside, like the command doctor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "doctor" {
		if err := Print(context.Background(), slices.Contains(os.Args, "--calibrate"), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestRun(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	netnstest.Share(t)
	var names []string
	all := Run(t.Context())
	for _, f := range all {
		t.Logf("%v", f)
		names = append(names, f.Name)
		if f.Name == "" || f.Detail == "" {
			t.Errorf("%+v says nothing", f)
		}
		if slices.Contains([]string{"kernel", "user namespaces", "htb", "u32 and mirred",
			"congestion control"}, f.Name) &&
			!f.OK {
			t.Errorf("%s is not ok: %s", f.Name, f.Detail)
		}
	}
	for _, lacking := range []struct{ name, says, fix string }{
		{"netem", "delay=, jitter= and loss= of links in Mininet are refused", "sudo modprobe sch_netem"},
		{"red", "--ecn-bytes is refused", "sudo modprobe sch_red"},
	} {
		i := slices.Index(names, lacking.name)
		if i < 0 || all[i].OK {
			continue
		}
		if !strings.Contains(all[i].Detail, lacking.says) || !strings.Contains(all[i].Detail, "this kernel") ||
			all[i].Fix != lacking.fix {
			t.Errorf("what is said of %s is %+v, want %q and %q", lacking.name, all[i], lacking.says, lacking.fix)
		}
	}
	want := []string{"kernel", "user namespaces", "root", "cores", "stolen CPU", "ping",
		"iperf3", "bpf", "htb",
		"u32 and mirred", "netem",
		"red", "VOQs", "tags by cgroup", "vCPUs by cgroup",
		"congestion control", "tcp_tso_rtt_log", "mounts"}
	if !slices.Equal(names, want) {
		t.Errorf("findings are %q, want %q", names, want)
	}
}

func TestCalibrate(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	netnstest.Share(t)
	rate, err := Calibrate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("carries %.1f Gb/s", gbps(rate))
	if rate < 100*pathmap.Mbps || rate > fastest {
		t.Errorf("carries %v, which no machine does", rate)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calibrate(ctx); err == nil {
		t.Error("a cancelled calibration has a result")
	}
}

type hinted struct{}

func (hinted) Error() string { return "no" }
func (hinted) Hint() string  { return "do it" }

func TestLine(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Finding
		want string
	}{
		{"ok", Finding{Name: "a", OK: true, Detail: "fine", Fix: "nothing"}, "ok  a                    fine\n"},
		{"not ok", Finding{Name: "a", Detail: "bad"}, "no  a                    bad\n"},
		{"with a fix", wrong("a", fmt.Errorf("ask: %w", hinted{})),
			"no  a                    ask: no\n                    " +
				"     fix: do it\n"},
	} {
		var b bytes.Buffer
		if err := line(&b, c.f); err != nil || b.String() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, b.String(), err, c.want)
		}
	}
}

func TestBounded(t *testing.T) {
	var w bounded
	if _, err := w.Write(make([]byte, maxAnswer)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte{1}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestParseCPU(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     cpuTicks
		err      string
	}{
		{"a machine", "cpu  1 2 4 8 16 32 64 128 0 0\ncpu0 9",
			cpuTicks{busy: 1 + 2 + 4 + 32 + 64, steal: 128}, ""},
		{"too short", "cpu 1 2 3", cpuTicks{}, "first line"},
		{"not a number", "cpu 1 2 x 8 16 32 64 128 0 0", cpuTicks{}, "invalid syntax"},
		{"empty", "", cpuTicks{}, "first line"},
	} {
		got, err := parseCPU(c.in)
		if got != c.want || (err == nil) != (c.err == "") || err != nil &&
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func FuzzParseCPU(f *testing.F) {
	f.Add("cpu  1 2 4 8 16 32 64 128 0 0\n")
	f.Add("cpu")
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := parseCPU(s); err == nil && !strings.HasPrefix(strings.TrimSpace(s), "cpu") {
			t.Errorf("%q was taken", s)
		}
	})
}
