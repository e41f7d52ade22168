package simulated_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
)

// reading is a parent, and a child that arrives after a second, reads for two, and then computes for one.
func reading() []controller.Job {
	tasks := []controller.Task{{Compute: time.Second / 2}, {Compute: time.Second / 2}}
	parent := controller.Job{Name: "parent", Weight: 1, Incremental: true,
		Stages: []controller.Stage{{Name: "s", Tasks: tasks}}}
	child := controller.Job{Name: "child", Weight: 1, Arrival: time.Second, Incremental: true,
		Stages: []controller.Stage{{Name: "s", Tasks: make([]controller.Task, 6)}},
		Edges: []controller.Edge{{Bytes: 12e6, Reads: &controller.Read{Job: "parent",
			Kind: controller.ScatterGather}}}}
	for i := range child.Stages[0].Tasks {
		child.Stages[0].Tasks[i].Compute = time.Second
	}
	return []controller.Job{parent, child}
}

// TestOutputLost: what a parent wrote is lost with its hosts, before its child begins or while that
// reads. The child says so, and goes on once they are back, whatever the policy.
func TestOutputLost(t *testing.T) {
	const fabric = "hybrid:racks=3,hosts=2,spines=2,nic=20Mbps,eps=50Mbps,ocs=200Mbps,dark=10ms,slots=2"
	run := func(policy, faults string) (*scenario.Prepared, *outcome.Outcome) {
		s := labtest.WithFaults(t, fabric, policy, faults,
			func(o *scenario.Options) { o.Given, o.Coflows = reading(), 0 })
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		return s, o
	}
	for _, policy := range []string{"dawn+ecmp+sunflow", "pushbox+ecmp", "hadoop+ecmp", "shufflewatcher+ecmp",
		"neat+ecmp"} {
		s, whole := run(policy, "")
		if c := whole.State.Coflows[0]; c.Started < time.Second || c.Started > 1300*time.Millisecond ||
			c.Ended < 2*time.Second {
			t.Errorf("%s: the child reads from %v to %v, want while hosts fail", policy, c.Started, c.Ended)
		}
		lost := map[string]bool{}
		for _, h := range whole.State.Jobs[0].Hosts {
			lost[s.Fabric.Topology.Node(s.Fabric.HostNode[h]).Name] = true
		}
		for _, at := range []string{"0.8", "1.4"} {
			fail, heal := "", ""
			for name := range lost {
				fail += fmt.Sprintf("%s fail host %s\n", at, name)
				heal += fmt.Sprintf("9 heal host %s\n", name)
			}
			t.Run(policy+" at "+at, func(t *testing.T) {
				_, o := run(policy, fail)
				if why := o.Reasons[1]; !strings.Contains(why, ", which is lost: ") {
					t.Errorf("the child waits, and says %q", why)
				}
				s, o := run(policy, fail+heal)
				labtest.CheckOutcome(t, s, o)
				if end := o.State.Jobs[1].Ended; end < 10*time.Second {
					t.Errorf("the child ends at %v; what it reads is back at 9 s", end)
				}
			})
		}
	}
}

// TestParentNeverComes: a run that cannot go on says which job waits, and for what.
func TestParentNeverComes(t *testing.T) {
	c := replay.Case{Options: scenario.Options{
		On: scenario.OnFlowsim, Fabric: "leafspine:racks=2,hosts=2,spines=1,slots=2",
		Policies: []string{"dawn+ecmp"}, Given: reading()[1:], Seed: 1,
	}}
	const want = `0 of 1 jobs ended: job "child" (0) waits: it reads what job "parent" writes, which has not been ` +
		`submitted`
	if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
