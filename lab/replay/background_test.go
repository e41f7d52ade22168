package replay

import (
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
)

// TestBackground: with other traffic coflows take longer, no figure counts it, and seeds decide what it is.
func TestBackground(t *testing.T) {
	const trace = "8 3\n1 0 1 0 1 1:500\n2 1000 1 2 1 3:500\n3 20000 1 4 1 5:500\n"
	opt := scenario.Options{Fabric: "crossbar:ports=8,rate=1Gbps", Policies: []string{"tcp"}}
	_, _, alone := labtest.ReplayText(t, trace, opt)
	opt.Rules.Background = .5
	s, o, took := labtest.ReplayText(t, trace, opt)
	rep, _ := running(s).report([]*outcome.Outcome{o})
	p := rep.Policies[0]
	if len(took) != 3 || p.CCT.Count != 3 || p.JCT.Count != 3 || p.BytesTotal != 1500e6 ||
		rep.Workload.Jobs != 3 ||
		rep.Workload.Flows != 3 {
		t.Fatalf("figures count other traffic: %+v, %+v", p.CCT, rep.Workload)
	}
	if b := rep.Workload.Background; b == nil || b.Flows != len(s.Jobs)-3 || b.Share != .5 ||
		b.Model != workload.BackgroundModel || b.Flows < 20 {
		t.Fatalf("%+v", b)
	}
	slower := 0
	for i := range took {
		if took[i] > alone[i]+time.Millisecond {
			slower++
		}
	}
	if slower == 0 {
		t.Errorf("with other traffic %v, alone %v", took, alone)
	}
	for _, c := range o.State.Coflows {
		if c.Ended == state.Unset {
			t.Error("a coflow has not ended")
		}
	}
}
