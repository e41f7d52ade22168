package packets

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lightloom/controller/workload"
	"lightloom/emulator/device"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
)

// TestFaultsOnPackets makes a link, a spine, a host and the leader fail and recover under real packets:
// every job ends, the hosts have received each byte of the ledger, replicas agree, and the outcome
// lists the faults by the run's clock.
func TestFaultsOnPackets(t *testing.T) {
	shared := labtest.ShareNetns(t, "netns", false)
	s := labtest.WithFaults(t, "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=500Mbps,dark=10ms,nic=200Mbps,slots=8",
		"crosslayer+sunflow",
		"300ms fail link tor0-spine0\n500ms fail host h1-0\n700ms fail switch spine1\n800ms fail controller "+
			"controller0\n900ms fail link tor3-ocs\n"+
			"1.2s heal switch spine1\n1.5s heal link tor0-spine0\n1.8s heal host h1-0\n2s heal controller controller0\n2.2s "+
			"heal link tor3-ocs\n",
		func(o *scenario.Options) { o.On, o.Scale, o.Coflows = scenario.OnNetns, 4, 14 })
	scaled, err := scenario.Prepare(s.Options, 4)
	if err != nil {
		t.Fatal(err)
	}
	shared.Measure(t, 4, func() error { return faultsOnPackets(t, scaled) })
}

// faultsOnPackets returns the faults that came late, as on a busy machine.
func faultsOnPackets(t *testing.T, scaled *scenario.Prepared) (late error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	o, err := labtest.Enter(ctx, scaled, scaled.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := pathmap.Bytes(0)
	for _, c := range o.State.Coflows {
		sum += c.Bytes + c.Local
	}
	if over := o.Unfinished(); over != nil || sum != workload.Sum(scaled.Jobs).Bytes {
		t.Fatalf("%d of %d bytes; %v", sum, workload.Sum(scaled.Jobs).Bytes, over)
	}
	if err := device.CheckLit(o.Lit); err != nil {
		t.Error(err)
	}
	if len(o.Faults) < 3 || o.Digest == "" {
		t.Fatalf("faults %+v, digest %q", o.Faults, o.Digest)
	}
	for i, at := range []time.Duration{300 * time.Millisecond, 500 * time.Millisecond,
		700 * time.Millisecond} {
		d := o.Faults[i].From - at
		if d < 0 {
			t.Errorf("%v failed at %v, was to at %v", o.Faults[i].Fault, o.Faults[i].From, at)
		}
		if d > time.Second {
			late = fmt.Errorf("%v failed at %v, was to at %v", o.Faults[i].Fault, o.Faults[i].From, at)
		}
	}
	if r := o.ResultOf(scaled); len(r.Received) == 0 || len(r.Jobs) != len(scaled.Jobs) {
		t.Errorf("the report has %d intervals and %d jobs", len(r.Received), len(r.Jobs))
	}
	return late
}
