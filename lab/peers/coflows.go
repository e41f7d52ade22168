package peers

import (
	"context"
	"errors"

	"lightloom/controller/policy"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/simulated"
)

// coflowFigure is a figure of a simulator of coflows, on a cut of the Facebook trace.
type coflowFigure struct {
	peer, figure string
	policy       string
	fabric       string
	coflows      int
	rules        scenario.Rules
	theirs       float64 // seconds
	margin       float64 // part
	reason       string
	of           func(*report.Policy) float64
}

func meanOf(p *report.Policy) float64 { return p.CCT.Mean }
func p50Of(p *report.Policy) float64  { return p.CCT.P50 }
func maxOf(p *report.Policy) float64  { return p.CCT.Max }

// Fabrics of the figures: at the first, a megabyte of the trace takes 8 ms.
const (
	bigSwitch = "crossbar:ports=150,rate=1Gbps"
	circuits  = "crossbar:ports=150,rate=1Gbps,dark=10ms"
)

// coflowFigures are those that run in seconds: on the first 100 coflows, and on all of at most 400 flows.
func coflowFigures() []coflowFigure {
	varys := scenario.Rules{Compat: scenario.CompatCoflowsim, CarryLocal: true}
	narrow := varys
	narrow.MaxWidth = 400
	sun := scenario.Rules{Compat: scenario.CompatSunflow, MaxWidth: 400}
	alone := sun
	alone.OneAtATime = true
	flows := scenario.Rules{MaxWidth: 400, Redecide: policy.AtFlows}
	const (
		digits = .0006 // of figures in ms: half of the last digit
		chance = "that simulator keeps instants as doubles and rounds what is sent: of equal instants it takes one by chance"
		local  = "exact times, local flows free, and rates decided again at the end of flows, not of coflows"
		fault  = "a rule that differs: this is a fault of ours"
	)
	return []coflowFigure{
		{"coflowsim", "SEBF, first 100, mean CCT", "sebf", bigSwitch, 100, varys, 2.783, digits, fault, meanOf},
		{"coflowsim", "SEBF, first 100, median CCT", "sebf", bigSwitch, 100, varys, .104, digits, fault, p50Of},
		{"coflowsim", "SEBF, first 100, longest CCT", "sebf", bigSwitch, 100, varys, 165.928, digits, fault, maxOf},
		{"coflowsim", "SEBF, at most 400 flows, mean CCT", "sebf", bigSwitch, 0, narrow, .866, digits, fault, meanOf},
		{"coflowsim", "SEBF, at most 400 flows, longest CCT", "sebf", bigSwitch, 0, narrow, 61.432, digits, fault, maxOf},
		{"coflowsim", "FIFO, first 100, mean CCT", "fifo", bigSwitch, 100, varys, 6.182, digits, fault, meanOf},
		{"coflowsim", "FIFO, at most 400 flows, mean CCT", "fifo", bigSwitch, 0, narrow, .871, digits, fault, meanOf},
		{"Sunflow's simulator", "sunflow, δ 10 ms, all together, mean CCT", "sunflow", circuits, 0, sun, 1.02096, 0,
			chance, meanOf},
		{"Sunflow's simulator", "sunflow, δ 10 ms, one at a time, mean CCT", "sunflow", circuits, 0, alone, 1.02191, 0,
			chance, meanOf},
		{"Sunflow's simulator", "Varys on packets, mean CCT", "sebf", bigSwitch, 0, sun, .858128, 1e-5, fault, meanOf},
		{"Sunflow's simulator", "Varys, our own sebf, mean CCT", "sebf", bigSwitch, 0, flows, .85813, 1e-5, local, meanOf},
	}
}

// run measures our figure.
func (c *coflowFigure) run(ctx context.Context, trace string) (float64, error) {
	s, err := scenario.Prepare(scenario.Options{Trace: trace, Fabric: c.fabric, On: scenario.OnFlowsim,
		Policies: []string{c.policy}, Coflows: c.coflows, Speedup: 1, Seed: 1, Rules: c.rules}, 1)
	if err != nil {
		return 0, err
	}
	sc := s.Scenario(s.Rows[0])
	x, err := simulated.New(sc, simulated.Options{})
	if err != nil {
		return 0, err
	}
	o, err := testbed.Run(ctx, x, sc, nil)
	if err = errors.Join(err, x.Close()); err != nil {
		return 0, err
	}
	return c.of(&report.Summarise(report.Meta{}, []report.PolicyResult{o.ResultOf(s)}).Policies[0]), nil
}

func (c *coflowFigure) row(ours *float64, reason string) Row {
	return newRow(c.peer, c.figure, "s", c.theirs, ours, c.margin, reason)
}
