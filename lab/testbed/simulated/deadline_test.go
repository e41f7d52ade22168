package simulated_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// hurried returns random coflows on a crossbar of eight ports. A coflow's deadline is one to three
// times its time alone on the fabric, as in Varys' evaluation.
func hurried(t *testing.T, seed uint64, policy, fabric string) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: seed, Policies: []string{policy},
		Speedup: 1, Coflows: 1,
		On: scenario.OnFlowsim, Fabric: fabric}, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 31))
	s.Jobs = nil
	at := time.Duration(0)
	for i := range 60 {
		e := controller.Edge{}
		for range 1 + r.IntN(12) {
			src := southbound.HostID(r.IntN(8))
			e.Flows = append(e.Flows, controller.Flow{Src: src,
				Dst: (src + southbound.HostID(1+r.IntN(7))) % 8, Bytes: 1e5 +
					pathmap.Bytes(r.IntN(20e6))})
		}
		j := controller.Job{Name: fmt.Sprint("job", i), Arrival: at, Edges: []controller.Edge{e}}
		if r.IntN(4) > 0 { // the others have none
			j.Deadline = time.Duration(float64(s.Bound(&j, &e)) * (1 + 2*r.Float64()))
		}
		s.Jobs = append(s.Jobs, j)
		at += time.Duration(r.IntN(int(300 * time.Millisecond)))
	}
	return s
}

// TestPromisesAreKept: admitted coflows end in time, on every run; and more end in time than under SEBF
// or fair shares, which ignore deadlines.
func TestPromisesAreKept(t *testing.T) {
	met := map[string]int{}
	admitted, rejected := 0, 0
	for _, fabric := range []string{"crossbar:ports=8,rate=1Gbps",
		"leafspine:racks=4,hosts=2,spines=1,eps=1Gbps,nic=1Gbps"} {
		for seed := range uint64(12) {
			for _, policy := range []string{"sebf-deadline", "sebf", "maxmin"} {
				s := hurried(t, seed, policy, fabric)
				o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				labtest.CheckOutcome(t, s, o)
				a, r := judge(t, o.State, met, policy, seed)
				admitted, rejected = admitted+a, rejected+r
			}
		}
	}
	t.Logf("%d admitted, %d rejected; in time: %v", admitted, rejected, met)
	if admitted < 200 || rejected < 50 || met["sebf-deadline"] <= met["sebf"] || met["sebf"] <= met["maxmin"] {
		t.Errorf("%d admitted, %d rejected; in time: %v: want Varys with deadlines before SEBF before fair shares", admitted,
			rejected, met)
	}
}

// judge counts the coflows that met their deadline, and those that were admitted.
func judge(t *testing.T, d *state.Data, met map[string]int, policy string, seed uint64) (admitted,
	rejected int) {
	for i, c := range d.Coflows {
		j := d.Jobs[c.Job]
		if j.Deadline == 0 {
			continue
		}
		inTime := c.Ended <= j.Arrival+j.Deadline
		if inTime {
			met[policy]++
		}
		switch c.Admission {
		case controller.Admitted:
			admitted++
			if !inTime {
				t.Errorf("%s, seed %d: coflow %d was admitted and ended at %v, its deadline was %v", policy,
					seed, i, c.Ended,
					j.Arrival+j.Deadline)
			}
		case controller.Rejected:
			rejected++
		}
	}
	return admitted, rejected
}

// TestPromisesOutliveControllers: a new controller keeps the promises of the one before.
func TestPromisesOutliveControllers(t *testing.T) {
	for seed := range uint64(8) {
		s := hurried(t, seed, "sebf-deadline", "crossbar:ports=8,rate=1Gbps")
		r := rand.New(rand.NewPCG(seed, 9))
		o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(15) == 0 })
		if err != nil {
			t.Fatal(err)
		}
		if lives < 3 {
			t.Errorf("seed %d: only %d controllers: nothing was tried", seed, lives)
		}
		judge(t, o.State, map[string]int{}, "sebf-deadline", seed)
	}
}
