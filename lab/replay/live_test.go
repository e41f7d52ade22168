package replay

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/demand"
	"lightloom/controller/server"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/lab/console"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// Tests of the simulator that take seconds run in parallel, after all others: none of them shares the processors with
// packets whose times are looked at.

// TestMain lets the test binary be what this package starts: the process inside, a replica, or a whole replay.
func TestMain(m *testing.M) {
	ctx := context.Background()
	var err error
	switch arg := slices.Concat(os.Args, []string{""})[1]; arg {
	case emulated.InsideCommand:
		err = emulated.Inside(ctx, os.Stderr, session.Keep)
	case server.ReplicaCommand:
		err = server.RunReplica(ctx, os.Stdin, os.Stderr)
	case replayCommand:
		err = Replay(ctx, liveOptions(os.Args[2], "random+ecmp+sunflow"))
	case upCommand:
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
		opt := liveOptions("", "crosslayer+sunflow")
		opt.Fabric = "hybrid:racks=3,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms"
		if len(os.Args) > 2 {
			opt.Fabric = os.Args[2]
		}
		if len(os.Args) > 3 {
			opt.Demand = []demand.Options{{Source: demand.Source(os.Args[3])}}
		}
		if len(os.Args) > 4 {
			opt.State = os.Args[4]
		}
		err = session.Up(ctx, opt.Options, session.UpOptions{}, os.Stdout, os.Stderr)
	case execCommand:
		err = session.Exec(ctx, session.ExecOptions{Host: os.Args[2], Command: os.Args[3:], Stdin: os.Stdin,
			Stdout: os.Stdout,
			Stderr: os.Stderr})
		var exit *console.ExitError
		if errors.As(err, &exit) && exit.Err == nil {
			os.Exit(exit.Code)
		}
	case sendCommand:
		err = sendUnannounced(os.Args[2], os.Args[3])
	case programCommand:
		err = ecmpProgram(os.Args[2])
	case receiveCommand:
		err = receiveUnannounced()
	default:
		// Runs on packets mostly wait, so more of them than there are processors go on side by side.
		if err = flag.Set("test.parallel", "4"); err == nil {
			os.Exit(m.Run())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const (
	replayCommand = "test-replay"
	upCommand     = "test-up"
	execCommand   = "test-exec"
	// Programs that the controller knows nothing of: one sends to an address for a while, one takes one connection.
	sendCommand    = "test-send"
	receiveCommand = "test-receive"
)

func liveOptions(dir string, policies ...string) Options {
	return Options{Options: scenario.Options{Demo: true, Seed: 1, Policies: policies, Scale: 1, Speedup: 3,
		Coflows: 20, On: scenario.OnNetns, Replicas: 3}, Console: Console{Output: console.OutputTable, ReportDir: dir,
		Stdout: io.Discard,
		Stderr: io.Discard}}
}

// needNetns skips with the reason, or fails where LIGHTLOOM_MUST says that this machine must be able to. Then it keeps
// other tests' namespaces away, for tests that measure.
func needNetns(t *testing.T, ability string, rootless bool) {
	t.Helper()
	canNetns(t, ability, rootless)
	netnstest.Lock(t)
}

// upNetns is needNetns for tests that can run beside those of other packages, but not beside each other: most keep a
// fabric up, of which a user has one at a time. What they measure has wide bounds, and is measured again alone.
func upNetns(t *testing.T) netnstest.Shared {
	t.Helper()
	canNetns(t, "netns", false)
	return netnstest.Share(t)
}

// shareNetns is upNetns for all other tests: they run in parallel.
func shareNetns(t *testing.T, ability string, rootless bool) netnstest.Shared {
	t.Helper()
	canNetns(t, ability, rootless)
	t.Parallel()
	return netnstest.Share(t)
}

func canNetns(t *testing.T, ability string, rootless bool) {
	t.Helper()
	if err := netns.Supported(rootless); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), ability) {
			t.Fatalf("LIGHTLOOM_MUST names %s: %v", ability, err)
		}
		t.Skipf("needs %s: %v", ability, err)
	}
}

func liveSetup(t *testing.T, seed uint64, policies ...string) *scenario.Prepared {
	t.Helper()
	opt := liveOptions(t.TempDir(), policies...)
	opt.Seed, opt.Stderr = seed, os.Stderr
	s, err := scenario.Prepare(opt.Options, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkPackets holds what must be true of a run on packets: everything that checkOutcome does, and that the hosts have
// received each byte once, by their own count.
func checkPackets(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	checkOutcome(t, s, o)
	var want pathmap.Bytes
	var hostFlows int64
	for _, c := range o.State.Coflows {
		want += c.Bytes
		hostFlows += c.HostFlows
	}
	if o.Received != want || o.HostFlowsEnded != hostFlows {
		t.Errorf("hosts received %d bytes in %d host flows, sent were %d in %d", o.Received, o.HostFlowsEnded, want,
			hostFlows)
	}
	if d := o.Depth(); d == nil || d.Port == "" || d.Most < d.Mean || d.Mean < 0 {
		t.Errorf("the fullest queue of a switch is %+v", d)
	}
}

func TestPackets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, ability string
		rootless      bool
		policy        string
	}{
		{"root", "netns", false, "crosslayer+sunflow"},
		{"rootless", "userns", true, "random+ecmp+sunflow"},
		{"rates", "netns", false, "random+ecmp+maxmin"}, // which TestGeneralOnPackets has, too
	}[:tries.Of(2, 3)] {
		t.Run(tt.name, func(t *testing.T) {
			shareNetns(t, tt.ability, tt.rootless)
			s := liveSetup(t, 2, tt.policy)
			ctx, cancel := context.WithTimeout(context.Background(), hanging)
			defer cancel()
			o, err := enter(ctx, s, s.Rows[0], emulated.Options{Rootless: tt.rootless})
			if err != nil {
				t.Fatal(err)
			}
			checkPackets(t, s, o)
			if strings.Contains(tt.policy, "sunflow") && o.OCS == 0 {
				t.Error("nothing went over circuits")
			}
			t.Logf("%s: end %v, %d bytes over circuits, %d over packets, %d retransmissions", o.Dataplane, o.End, o.OCS, o.EPS,
				o.Retransmissions)
		})
	}
}

// TestTrace replays a cut of the real trace on packets, in real time: what arrives is the trace's bytes, divided.
func TestTrace(t *testing.T) {
	name := facebookTrace(t)
	shareNetns(t, "netns", false)
	const scale, speedup = 20, 60
	s, err := scenario.Prepare(scenario.Options{Trace: name,
		Fabric: "hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=1ms", Seed: 1,
		Policies: []string{"crosslayer+sunflow"}, Scale: scale, Speedup: speedup, Coflows: 30,
		Rules: scenario.Rules{MaxWidth: 400},
		On:    scenario.OnNetns, Replicas: 3}, scale)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	defer cancel()
	o, err := enter(ctx, s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkPackets(t, s, o)
	var sum pathmap.Bytes
	for _, c := range o.State.Coflows {
		sum += c.Bytes + c.Local
	}
	if off := sum*scale*speedup - s.Unscaled; max(off, -off) > scale*speedup {
		t.Errorf("%d bytes stand for %d, off by %d: more than one byte of the run", sum, s.Unscaled, off)
	}
	if !s.Fold.Folded || s.Fold.LocalInTrace.Flows == 0 {
		t.Errorf("the fold says %q: want 150 racks on 16, and local flows apart", s.Fold)
	}
	t.Logf("%d coflows in %v, %d bytes, of them %d over circuits", len(o.State.Coflows), o.End, sum, o.OCS)
}

// TestLeaderKilled kills the leader's process at a random committed index in mid-replay: arrivals go on, every byte
// arrives once, the replicas that are left agree, and no port is lit twice.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	seeds := tries.Of[uint64](2, 10)
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			shareNetns(t, "netns", false)
			s := liveSetup(t, seed, []string{"random+ecmp+sunflow", "crosslayer+sunflow"}[seed%2])
			r := rand.New(rand.NewPCG(seed, 11))
			at := 10 + r.Uint64N(80)
			ctx, cancel := context.WithTimeout(context.Background(), hanging)
			defer cancel()
			o, err := enter(ctx, s, s.Rows[0], emulated.Options{Kill: []emulated.Killing{{Applied: at}}})
			if err != nil {
				t.Fatalf("killed at entry %d: %v", at, err)
			}
			if o.LeaderChanges < 1 || o.LeaderOutage <= 0 {
				t.Errorf("the leader changed %d times, outage %v: nothing was tried", o.LeaderChanges, o.LeaderOutage)
			}
			checkPackets(t, s, o)
			t.Logf("killed at entry %d: a new leader after %v, all ended after %v", at, o.LeaderOutage, o.End)
		})
	}
}

// TestParentKilled kills a replay's parent without warning: no process of it is left.
func TestParentKilled(t *testing.T) {
	shareNetns(t, "netns", false)
	mark := fmt.Sprintf("LIGHTLOOM_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd := exec.Command("/proc/self/exe", replayCommand, t.TempDir())
	cmd.Env = append(os.Environ(), mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	const family = 1 + 1 + 3 // the parent, the process inside, the replicas
	await(t, "all processes to run", func() bool { return len(marked(mark)) >= family })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	await(t, "all processes to be gone", func() bool { return len(marked(mark)) == 0 })
}

// TestInterrupted ends a replay as Ctrl-C does: it returns, says so, and leaves neither processes nor a report.
func TestInterrupted(t *testing.T) {
	upNetns(t) // not in parallel: it counts this process's children
	dir := filepath.Join(t.TempDir(), "report")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Replay(ctx, liveOptions(dir, "random+ecmp")) }()
	await(t, "the process inside to run", func() bool { return len(children(os.Getpid())) > 0 })
	cancel()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("returned %v, want context canceled", err)
		}
	case <-time.After(hanging):
		t.Fatal("does not return")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the report directory is still there: %v", err)
	}
	if left := children(os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// hanging is how long these tests wait for what must come; nothing takes a tenth of it on a quiet machine.
const hanging = 3 * time.Minute

// await polls a condition that nothing announces, up to a deadline.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(hanging)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited too long for %s", what)
		case <-tick.C:
		}
	}
}

// marked returns the processes whose environment holds a mark.
func marked(mark string) (pids []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil && slices.Contains(bytesSplit(b), mark) {
			pids = append(pids, filepath.Base(filepath.Dir(n)))
		}
	}
	return pids
}

func bytesSplit(b []byte) (out []string) {
	for _, f := range bytes.Split(b, []byte{0}) {
		out = append(out, string(f))
	}
	return out
}

// children returns the processes whose parent is pid.
func children(pid int) (out []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			continue
		}
		rest := string(b[bytes.LastIndexByte(b, ')')+1:])
		if f := strings.Fields(rest); len(f) > 1 && f[1] == fmt.Sprint(pid) && f[0] != "Z" {
			out = append(out, filepath.Base(filepath.Dir(n)))
		}
	}
	return out
}
