package simulated_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/workload/swim"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/simulated"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// checked is a policy that is held, at every call, against one that remembers nothing.
type checked struct {
	controller.Policy
	t           *testing.T
	name        string
	calls, none int               // none: of calls that place nothing while jobs wait
	share       *southbound.Rates // last said
}

// Decide implements controller.Policy.
func (c *checked) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	anew, err := policy.New(c.name, policy.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	if v.Unread != nil != c.Capabilities().Late {
		c.t.Fatalf("call %d at %v: what coflows have left is there", c.calls, v.Now)
	}
	got := c.Policy.Decide(v, ev)
	v.ReadRemaining()
	want := anew.Decide(v, ev)
	if want, got := written(want), written(got); want != got {
		c.t.Fatalf("call %d at %v: %s, one that remembers nothing %s", c.calls, v.Now, got, want)
	}
	if got.Share != nil {
		c.share = got.Share
	}
	if want, got := fmt.Sprintf("%+v", want.Share), fmt.Sprintf("%+v", c.share); want != got {
		c.t.Fatalf("call %d at %v: rates %s, of one that remembers nothing %s", c.calls, v.Now, got, want)
	}
	if c.calls++; len(got.Place) == 0 && len(v.Partial)+len(v.Waiting) > 0 {
		c.none++
	}
	return got
}

// written is a plan as text, but for rates: they are said where they change.
func written(p *controller.Plan) string {
	c := *p
	c.Share = nil
	return fmt.Sprintf("%+v", c)
}

// TestDecidesAsAnew: policies that remember what they have seen decide as ones that remember nothing, at every call of
// runs in which maps wait for slots by their blocks, read from other racks, and shuffle over circuits.
func TestDecidesAsAnew(t *testing.T) {
	m := swim.V1(24)
	m.MapRate, m.ReduceRate, m.Window = 4*m.MapRate, 4*m.ReduceRate, m.Window/40
	r := rand.New(rand.NewPCG(1, 2))
	var records []swim.Record
	for i := range 20 {
		in := pathmap.Bytes(r.IntN(4_000_000_000))
		records = append(records, swim.Record{Name: fmt.Sprint("job", i), Input: in, Shuffle: in * pathmap.Bytes(i%3)})
	}
	for _, name := range []string{"fair+sunflow", "corral+sunflow", "coscheduler+sunflow", "pushbox+sunflow",
		"dawn+sunflow", "pushbox", "pushbox-fifo", "hadoop", "shufflewatcher", "neat"} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Prepare(scenario.Options{Given: m.Jobs(m.Sample(records, 20, false, rand.New(rand.NewPCG(1, 3))),
				rand.New(rand.NewPCG(1, 4))), Policies: []string{name}, Seed: 1, Speedup: 1, Replicas: 1, On: scenario.OnFlowsim,
				Fabric: "hybrid:racks=12,hosts=1,slots=2,spines=1,nic=1Gbps,eps=1Gbps,ocs=10Gbps,dark=10ms"}, 1)
			if err != nil {
				t.Fatal(err)
			}
			var c *checked
			sc := s.Scenario(s.Rows[0])
			x, err := simulated.New(sc, simulated.Options{Policy: func() controller.Policy {
				p, err := policy.New(name, policy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				c = &checked{Policy: p, t: t, name: name}
				return c
			}})
			if err != nil {
				t.Fatal(err)
			}
			o, err := testbed.Run(context.Background(), x, sc, nil)
			if err != nil || o.Unfinished() != nil {
				t.Fatal(err, o.Unfinished())
			}
			read := 0
			for i := range o.State.Tasks {
				if o.State.Tasks[i].OverNetwork {
					read++
				}
			}
			if t.Logf("%d calls, %d placed nothing, %d blocks read", c.calls, c.none, read); c.none < c.calls/2 || read == 0 {
				t.Error("calls that there is nothing to remember of, or no block was read")
			}
		})
	}
}
