package labtest

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
)

// PacketOptions are those of a small demo on packets.
func PacketOptions(policies ...string) scenario.Options {
	return scenario.Options{Demo: true, Seed: 1, Policies: policies, Scale: 1, Speedup: 3, Coflows: 20,
		On: scenario.OnNetns, Replicas: 3}
}

// NeedNetns skips with the reason, or fails where LIGHTLOOM_MUST says that this machine must be able
// to. Then it keeps other tests' namespaces away, for tests that measure.
func NeedNetns(t *testing.T, ability string, rootless bool) {
	t.Helper()
	canNetns(t, ability, rootless)
	netnstest.Lock(t)
}

// UpNetns is NeedNetns for tests that can run beside those of other packages, but not beside each
// other: most keep a fabric up, of which a user has one at a time. What they measure has wide bounds,
// and is measured again alone.
func UpNetns(t *testing.T) netnstest.Shared {
	t.Helper()
	canNetns(t, "netns", false)
	return netnstest.Share(t)
}

// ShareNetns is UpNetns for all other tests: they run in parallel.
func ShareNetns(t *testing.T, ability string, rootless bool) netnstest.Shared {
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

// Packets prepares that demo under a seed.
func Packets(t *testing.T, seed uint64, policies ...string) *scenario.Prepared {
	t.Helper()
	opt := PacketOptions(policies...)
	opt.Seed = seed
	s, err := scenario.Prepare(opt, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// CheckPackets holds what must be true of a run on packets: everything that CheckOutcome does, and that
// the hosts have received each byte once, by their own count.
func CheckPackets(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	CheckOutcome(t, s, o)
	var want pathmap.Bytes
	var hostFlows int64
	for _, c := range o.State.Coflows {
		want += c.Bytes
		hostFlows += c.HostFlows
	}
	if o.Received != want || o.HostFlowsEnded != hostFlows {
		t.Errorf("hosts received %d bytes in %d host flows, sent were %d in %d", o.Received,
			o.HostFlowsEnded, want,
			hostFlows)
	}
	if d := o.Depth(); d == nil || d.Port == "" || d.Most < d.Mean || d.Mean < 0 {
		t.Errorf("the fullest queue of a switch is %+v", d)
	}
}

// Enter runs a row on real packets.
func Enter(ctx context.Context, s *scenario.Prepared, r scenario.Row,
	opt emulated.Options) (*outcome.Outcome, error) {
	opt.Stderr = os.Stderr
	o, _, err := emulated.Run(ctx, s.Scenario(r), opt, nil)
	return o, err
}
