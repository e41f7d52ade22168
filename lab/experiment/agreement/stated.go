package agreement

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"

	"golang.org/x/sys/unix"

	"lightloom/lab/experiment"
	"lightloom/lab/report"
)

// busyCore starts a program that keeps a core busy until end is called. It ends with this process at
// the latest.
func busyCore(ctx context.Context) (end func(), err error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("keep a core busy: %w", err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}, nil
}

// each adds a row for every run: what it is off by, and all that the error that it states rests on.
func (s setting) each(runs []*pair, out *experiment.Result) {
	for _, p := range runs {
		note, err := json.Marshal(struct {
			Seed uint64 `json:"seed"`
			report.Health
		}{p.Seed, p.Health})
		if err != nil {
			continue // a figure that is no number
		}
		out.Add(experiment.Row{Figure: offBy, Setting: s.String(), Metric: "mean CCT",
			Unit: "%", Measured: experiment.Number(100 * p.Mean), N: 1, Verdict: experiment.NoClaim, Note: string(note)})
	}
}

// stated judges the errors that runs state of themselves by what they are off by. Runs that state none
// are left out.
func stated(runs []*pair, out *experiment.Result) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(p *pair) bool { return p.Health.Unknown })
	var said, were []float64
	covered := 0
	hit, marked, off := [2]int{}, [2]int{}, [2]int{}
	for _, p := range runs {
		were, said = append(were, math.Abs(p.Mean)), append(said, p.Health.Expected)
		if p.Health.Expected >= math.Abs(p.Mean) {
			covered++
		}
		for k, at := range []float64{report.MarkedError, report.RefusedError} {
			m, o := p.Health.Expected > at, math.Abs(p.Mean) > at
			hit[k], marked[k], off[k] = hit[k]+is(m && o), marked[k]+is(m), off[k]+is(o)
		}
	}
	if len(runs) == 0 {
		return
	}
	slices.Sort(said)
	slices.Sort(were)
	row := func(metric, unit string, v float64, note string) {
		out.Add(experiment.Row{Figure: "stated error", Setting: "all runs", Metric: metric, Unit: unit,
			Measured: experiment.Number(v), N: len(runs), Verdict: experiment.NoClaim, Note: note})
	}
	row("covers the true one", "%", 100*float64(covered)/float64(len(runs)), "")
	row("median ÷ median of the true ones", "", report.Percentile(said, 0.5)/report.Percentile(were, 0.5), "")
	row("largest true one", "%", 100*were[len(were)-1],
		fmt.Sprintf("above 10 %%: %d of %d marked, %d off, %d both; "+
			"above 25 %%: %d marked, %d off, %d both", marked[0], len(runs), off[0], hit[0], marked[1], off[1], hit[1]))
}

func is(b bool) int {
	if b {
		return 1
	}
	return 0
}
