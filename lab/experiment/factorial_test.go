package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"lightloom/controller/workload/swim"
)

// TestFactorialEffects: on a grid made of known effects, the computed main effects and interactions are
// the same.
func TestFactorialEffects(t *testing.T) {
	all := cells()
	got := Systems{}
	for _, c := range all {
		for run := range 3 {
			x := 10 * float64(run+1) // what differs between runs falls out
			if c.beside() {
				got[c.String()] = append(got[c.String()], Figures{meanCCT: x / 4})
				continue
			}
			if c.place == 1 {
				x *= 0.8
			}
			if c.circuits == 3 {
				x *= 0.5
			}
			if c.place == 1 && c.circuits == 3 {
				x *= 1.1
			}
			got[c.String()] = append(got[c.String()], Figures{meanCCT: x})
		}
	}
	e := effects{metric: meanCCT, got: got, out: (&Bench{First: 1}).Result()}
	// The interaction is felt in one of five lights, and in one of three places.
	want := map[string]float64{
		"crosslayer against fair":               100 * (0.8*math.Pow(1.1, 1./5) - 1),
		"coscheduler against fair":              0,
		"anneal against ecmp":                   0,
		"sunflow against none":                  100 * (0.5*math.Pow(1.1, 1./3) - 1),
		"edmonds against none":                  0,
		"crosslayer × sunflow":                  10,
		"crosslayer × edmonds":                  0,
		"crosslayer × anneal":                   0,
		"anneal × sunflow":                      0,
		"joint against fair+ecmp+none":          -75,
		"joint against crosslayer+ecmp+sunflow": 100 * (0.25/(0.8*0.5*1.1) - 1),
	}
	found := 0
	e.mains()
	e.interactions()
	for _, c := range all {
		e.joint(c)
	}
	for _, r := range e.out.Rows {
		w, ok := want[r.Setting]
		if !ok {
			continue
		}
		found++
		if math.Abs(*r.Measured-w) > 1e-9 || math.Abs(*r.High-*r.Low) > 1e-9 {
			t.Errorf("%s: %.6f (%.6f to %.6f), want %.6f", r.Setting, *r.Measured, *r.Low, *r.High, w)
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d effects found", found, len(want))
	}
}

// TestFactorialRuns: every cell runs to its end, and joint's bytes go over circuits.
func TestFactorialRuns(t *testing.T) {
	out, err := runFactorial(context.Background(), &Bench{Seeds: 1, First: 1, On: OnFlowsim, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	shares := 0
	for _, r := range out.Rows {
		if r.Measured == nil || math.IsNaN(*r.Measured) {
			t.Errorf("%s, %s, %s: nothing measured", r.Figure, r.Setting, r.Metric)
		}
		if r.Figure == "share of circuits" && strings.HasSuffix(r.Setting, "joint") && *r.Measured > 0 {
			shares++
		}
	}
	if shares != 2 {
		t.Errorf("circuits carried bytes of joint in %d of 2 settings", shares)
	}
}

// TestJointRunsWaves: jobs of SWIM's model with more maps than slots run to their end under joint and
// crosslayer. Maps run in waves and near their data where possible, reduces where the annealer places
// them. Circuits carry bytes under joint and none under crosslayer.
func TestJointRunsWaves(t *testing.T) {
	var all []swim.Record
	for k := range 6 {
		all = append(all, swim.Record{Name: fmt.Sprint("job", k),
			Submit: time.Duration(k) * time.Second, Input: 10 << 30,
			Shuffle: 4 << 30, Output: 1 << 30})
	}
	c := cluster{Name: "waves", Fabric: "hybrid:racks=6,hosts=1,slots=5,spines=1,nic=100Gbps,eps=10Gbps,ocs=100Gbps," +
		"dark=10ms", Jobs: 6, Model: swim.V1(30)}
	c.Model.Window = time.Minute
	for name, circuits := range map[string]bool{"joint": true, "crosslayer": false} {
		f, err := c.run(context.Background(), all, name, nil, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f[meanJCT] <= 0 || f[meanCCT] <= 0 || f[crossed] <= 0 || f[farMaps] > 50 ||
			(f[overOCS] > 0) != circuits {
			t.Errorf("%s: %+v", name, f)
		}
		t.Logf("%s: %+v", name, f)
	}
}
