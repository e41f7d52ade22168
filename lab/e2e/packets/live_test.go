// Package packets tests whole runs on packets, in namespaces of their own.
package packets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

func TestMain(m *testing.M) {
	labtest.Main(m, 4, map[string]func(context.Context, []string) error{replayCommand: replayInto})
}

const replayCommand = "test-replay"

// replayInto is a whole replay, with its report in a directory.
func replayInto(ctx context.Context, args []string) error {
	return replay.Replay(ctx, replayOptions(args[0], "random+ecmp+sunflow"))
}

func replayOptions(dir string, policies ...string) replay.Options {
	return replay.Options{Options: labtest.PacketOptions(policies...),
		Console: replay.Console{Output: console.OutputTable, ReportDir: dir, Stdout: io.Discard,
			Stderr: io.Discard}}
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
			labtest.ShareNetns(t, tt.ability, tt.rootless)
			s := labtest.Packets(t, 2, tt.policy)
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{Rootless: tt.rootless})
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckPackets(t, s, o)
			if strings.Contains(tt.policy, "sunflow") && o.OCS == 0 {
				t.Error("nothing went over circuits")
			}
			t.Logf("%s: end %v, %d bytes over circuits, %d over packets, %d retransmissions", o.Dataplane,
				o.End, o.OCS, o.EPS,
				o.Retransmissions)
		})
	}
}

// TestTrace replays a cut of the real trace on packets, in real time: what arrives is the trace's
// bytes, divided.
func TestTrace(t *testing.T) {
	name := labtest.FacebookTrace(t)
	labtest.ShareNetns(t, "netns", false)
	const scale, speedup = 20, 60
	s, err := scenario.Prepare(scenario.Options{Trace: name,
		Fabric: "hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=1ms", Seed: 1,
		Policies: []string{"crosslayer+sunflow"}, Scale: scale, Speedup: speedup, Coflows: 30,
		Rules: scenario.Rules{MaxWidth: 400},
		On:    scenario.OnNetns, Replicas: 3}, scale)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckPackets(t, s, o)
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

// TestLeaderKilled kills the leader's process at a random committed index in mid-replay: arrivals go
// on, every byte arrives once, the replicas that are left agree, and no port is lit twice.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	seeds := tries.Of[uint64](2, 10)
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			labtest.ShareNetns(t, "netns", false)
			s := labtest.Packets(t, seed, []string{"random+ecmp+sunflow", "crosslayer+sunflow"}[seed%2])
			r := rand.New(rand.NewPCG(seed, 11))
			at := 10 + r.Uint64N(80)
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{Kill: []emulated.Killing{{Applied: at}}})
			if err != nil {
				t.Fatalf("killed at entry %d: %v", at, err)
			}
			if o.LeaderChanges < 1 || o.LeaderOutage <= 0 {
				t.Errorf("the leader changed %d times, outage %v: nothing was tried", o.LeaderChanges,
					o.LeaderOutage)
			}
			labtest.CheckPackets(t, s, o)
			t.Logf("killed at entry %d: a new leader after %v s, all ended after %v", at, o.LeaderOutage, o.End)
		})
	}
}

// TestParentKilled kills a replay's parent without warning: no process of it is left.
func TestParentKilled(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	mark := fmt.Sprintf("LIGHTLOOM_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd := exec.Command("/proc/self/exe", replayCommand, t.TempDir())
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), mark), &said, &said, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	const family = 1 + 1 + 3 // the parent, the process inside, the replicas
	labtest.Await(t, "all processes to run", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the replay has ended before it was killed: %v\n%s", err, &said)
		default:
		}
		return len(labtest.Marked(mark)) >= family
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	labtest.Await(t, "all processes to be gone", func() bool { return len(labtest.Marked(mark)) == 0 })
}

// TestInterrupted ends a replay as Ctrl-C does: it returns, says so, and leaves neither processes nor a
// report.
func TestInterrupted(t *testing.T) {
	labtest.UpNetns(t) // not in parallel: it counts this process's children
	dir := filepath.Join(t.TempDir(), "report")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- replay.Replay(ctx, replayOptions(dir, "random+ecmp")) }()
	labtest.Await(t, "the process inside to run", func() bool { return len(children(os.Getpid())) > 0 })
	cancel()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("returned %v, want context canceled", err)
		}
	case <-time.After(labtest.Hanging):
		t.Fatal("does not return")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the report directory is still there: %v", err)
	}
	if left := children(os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
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
