// Package labtest is what tests of whole runs share: small scenarios, runs on the simulator and on
// packets, checks that hold for each run, and the processes that a test binary has to be. It knows no
// way of reporting, which package replay has.
package labtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/explain"
	"lightloom/controller/state"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// MeanCCT is the mean completion time of a run's coflows, each of which has ended.
func MeanCCT(o *outcome.Outcome) (sum time.Duration) {
	for _, c := range o.State.Coflows {
		sum += c.Ended - c.Ready
	}
	return sum / time.Duration(len(o.State.Coflows))
}

// CheckEdges compares the ledger of every edge with the job's request.
func CheckEdges(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	got := map[[2]int]pathmap.Bytes{}
	for _, c := range o.State.Coflows {
		got[[2]int{int(c.Job), int(c.Edge)}] += c.Bytes + c.Local
	}
	taken := make([]bool, len(o.State.Jobs))
	for i := range s.Jobs {
		j := &s.Jobs[i]
		// On a busy machine jobs that arrive close to each other can be submitted in another order.
		id := 0
		for id < len(taken) && (taken[id] || o.State.Jobs[id].Name != j.Name) {
			id++
		}
		if id == len(taken) {
			t.Errorf("job %d (%q) was not submitted", i, j.Name)
			continue
		}
		taken[id] = true
		numbers := make([]southbound.HostID, j.Tasks())
		for n := range numbers {
			numbers[n] = southbound.HostID(n)
		}
		for e := range j.Edges {
			all := controller.Expand(j, &j.Edges[e], numbers)
			want := all.Local
			for _, b := range all.Size {
				want += b
			}
			if b := got[[2]int{id, e}]; b != want {
				t.Errorf("edge %d of job %d (%q): %d of %d bytes", e, id, j.Name, b, want)
			}
		}
	}
}

// FirstDifference compares the plans of two runs of the same jobs, decision by decision: where tasks
// were placed, which way coflows were sent, and which circuits were set up in which order. It returns
// "" where they are the same.
func FirstDifference(a, b *state.Data) string {
	for i := range min(len(a.Jobs), len(b.Jobs)) {
		if x, y := a.Jobs[i], b.Jobs[i]; x.Name != y.Name {
			return fmt.Sprintf("job %d is %q in one and %q in the other", i, x.Name, y.Name)
		} else if !slices.Equal(x.Hosts, y.Hosts) {
			return fmt.Sprintf("job %d (%q) is placed on %v and on %v", i, x.Name, x.Hosts, y.Hosts)
		}
	}
	for i := range min(len(a.Coflows), len(b.Coflows)) {
		if a.Coflows[i].Routes != b.Coflows[i].Routes {
			return fmt.Sprintf("coflow %d of %q takes other paths", i, a.Jobs[a.Coflows[i].Job].Name)
		}
	}
	for i := range min(len(a.Moves), len(b.Moves)) {
		x, y := &a.Moves[i], &b.Moves[i]
		if x.In != y.In || x.Out != y.Out || x.Coflow != y.Coflow {
			return fmt.Sprintf("circuit %d is %d→%d for coflow %d at %v, and %d→%d for coflow %d at %v",
				i, x.In, x.Out, x.Coflow, x.Intent, y.In, y.Out, y.Coflow, y.Intent)
		}
	}
	if len(a.Moves) != len(b.Moves) {
		return fmt.Sprintf("%d circuits are set up in one and %d in the other", len(a.Moves), len(b.Moves))
	}
	return ""
}

// Run runs a row on the testbed that its options name. why, which can be nil, gets the explanations.
func Run(ctx context.Context, s *scenario.Prepared, r scenario.Row, why *explain.Writer,
	kill ...emulated.Killing) (*outcome.Outcome, error) {
	if s.Options.On == scenario.OnFlowsim {
		return explained(ctx, s, r, why, nil)
	}
	o, lines, err := emulated.Run(ctx, s.Scenario(r), emulated.Options{Kill: kill, Stderr: os.Stderr}, nil)
	why.Add(lines)
	return o, err
}

// Figures are what a report says of a run.
func Figures(s *scenario.Prepared, o *outcome.Outcome) *report.Policy {
	return &report.Summarise(report.Meta{}, []report.PolicyResult{o.ResultOf(s)}).Policies[0]
}

// CheckOutcome checks the invariants of any run: every job ended, every byte arrived once, no OCS port
// was ever lit twice at a time.
func CheckOutcome(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	var sum pathmap.Bytes
	for i, c := range o.State.Coflows {
		if c.Ended == state.Unset {
			t.Errorf("coflow %d has not ended", i)
		}
		sum += c.Bytes + c.Local
	}
	for _, j := range o.State.Jobs {
		if j.Ended == state.Unset {
			t.Errorf("job %d has not ended", j.ID)
		}
	}
	want := blocksOverNetwork(o.State)
	for i := range s.Jobs {
		for _, e := range s.Jobs[i].Edges {
			want += e.Bytes
			for _, f := range e.Flows {
				want += f.Bytes
			}
		}
	}
	if sum != want {
		t.Errorf("%d bytes in the ledger, %d submitted", sum, want)
	}
	for i, a := range o.Lit {
		for _, b := range o.Lit[i+1:] {
			if (a.In == b.In || a.Out == b.Out) && a.From < b.To && b.From < a.To {
				t.Errorf("a port is lit twice: %+v and %+v", a, b)
			}
		}
	}
}

// blocksOverNetwork sums the blocks that tasks have read over the network.
func blocksOverNetwork(d *state.Data) (sum pathmap.Bytes) {
	for _, j := range d.Jobs {
		for i, t := range d.TasksOf(j) {
			if first, _ := j.StageTasks(int(t.Stage)); t.OverNetwork {
				sum += j.Job.Stages[t.Stage].Tasks[i-first].Input
			}
		}
	}
	return sum
}
