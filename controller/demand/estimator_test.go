package demand

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/southbound"
)

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		opt Options
		err string
	}{
		{Options{}, ""},
		{Options{Source: FromCounters, Period: time.Second}, ""},
		{Options{Source: "guess"}, `demand from "guess": take oracle, counters, backlog`},
		{Options{Source: FromBacklog, Period: time.Millisecond}, "take 10ms to 1m0s"},
		{Options{Source: FromBacklog, Buffer: -1}, "above zero"},
	} {
		if err := tc.opt.Check(); (err == nil) != (tc.err == "") || err != nil &&
			!strings.Contains(err.Error(), tc.err) {
			t.Errorf("%+v: error %v, want %q", tc.opt, err, tc.err)
		}
	}
}

// TestOracleReadsNothing: the oracle has no estimate and is never due.
func TestOracleReadsNothing(t *testing.T) {
	e := NewEstimator(Options{})
	if _, reads := e.Due(); reads || e.Traffic(4) != nil {
		t.Errorf("due %v, traffic %v", reads, e.Traffic(4))
	}
}

// TestReadings: the first reading of counters knows nothing, the second knows what was sent between,
// and where counters cannot be read the estimate stands for a while and then is nothing.
func TestReadings(t *testing.T) {
	v := &controller.View{Fabric: policytest.View(7).Fabric}
	if v.Fabric.Racks < 2 {
		t.Fatal("the view's fabric has one rack")
	}
	far := southbound.HostID(v.Fabric.Hosts() - 1)
	e := NewEstimator(Options{Source: FromCounters, Period: 100 * time.Millisecond})
	sent := pathmap.Bytes(0)
	read := func(at time.Duration, fails bool) (bool, error) {
		v.Now = at
		return e.Read(v, func() (Sample, error) {
			if fails {
				return Sample{}, errors.New("nobody answers")
			}
			return Sample{at, []Counter{{0, far, sent}}}, nil
		})
	}
	for _, step := range []struct {
		at    time.Duration
		send  pathmap.Bytes
		fails bool
		some  bool
		any   bool
	}{
		{at: 0},
		{at: 100 * time.Millisecond, send: 1e6, some: true, any: true}, // 80 Mb/s
		{at: 200 * time.Millisecond, any: true},
		{at: 300 * time.Millisecond},
		{at: 400 * time.Millisecond, send: 1e6, some: true, any: true},
		{at: 500 * time.Millisecond, fails: true, some: true, any: true},
		{at: 800 * time.Millisecond, fails: true, some: true, any: true},
		{at: 900 * time.Millisecond, fails: true, any: true},
		{at: 1000 * time.Millisecond, fails: true},
	} {
		sent += step.send
		any, err := read(step.at, step.fails)
		if (err != nil) != step.fails {
			t.Errorf("at %v: error %v", step.at, err)
		}
		sum := Matrix(e.Traffic(v.Fabric.Racks).Bytes).Sum()
		if any != step.any || (sum > 0) != step.some {
			t.Errorf("at %v: any %v, %d bytes; want %v, some: %v", step.at, any, sum, step.any, step.some)
		}
		if step.some {
			// Only the hosts' links bind: 500 Mb/s for 200 ms, less headers.
			want := float64(v.Fabric.Spec.NIC) / 8 * 0.2 * controller.FramePayload / controller.FrameBytes
			if d := float64(sum) - want; d > 10 || d < -10 {
				t.Errorf("at %v: %d bytes, want %.0f", step.at, sum, want)
			}
		}
		if due, _ := e.Due(); due != step.at+100*time.Millisecond {
			t.Errorf("at %v: due at %v", step.at, due)
		}
	}
}

// TestBacklogShowsElephants: without a size given, a socket holds an elephant.
func TestBacklogShowsElephants(t *testing.T) {
	for seed := range uint64(300) {
		v := policytest.View(seed)
		v.ElephantThreshold = 20e6
		e := NewEstimator(Options{Source: FromBacklog})
		if _, err := e.Read(v, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := Matrix(e.Traffic(v.Fabric.Racks).Bytes).Sum(), Backlog(v, 20e6).Sum(); got != want {
			t.Errorf("view %d: %d bytes, want %d", seed, got, want)
		}
	}
}
