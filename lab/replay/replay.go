package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"

	"lightloom/controller"
	"lightloom/controller/explain"
	"lightloom/controller/workload"
	"lightloom/emulator/netns"
	"lightloom/lab/console"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/emulated"
	"lightloom/lab/testbed/simulated"
	"lightloom/lab/version"
	"lightloom/southbound/hint"
)

// runner runs a prepared scenario and reports its results.
type runner struct {
	*scenario.Prepared
	Console

	explain *explain.Writer          // nil disables explanations
	memory  *simulated.MemoryLimit   // nil: no bound
	with    func() controller.Policy // replaces the rows' policies on the simulator; nil: the rows' own
	once    bool                     // a run on packets counts however much others disturb it
	until   time.Time                // of a demo on packets: until then marked rows can be made again
	packets emulated.Options         // of runs on packets; what they say goes to Stderr
}

// Replay runs every row of the options, prints the comparison and writes the report.
func Replay(ctx context.Context, opt Options) error {
	on, why, err := where(opt.On)
	if err != nil {
		return err
	}
	opt.On, opt.Record = on, true
	began := time.Now()
	scale, note := 0.0, ""
	if opt.Demo {
		opt.Options, note, err = fitDemo(ctx, opt.Options)
		scale = opt.Scale
	} else {
		scale, note, err = chooseScale(ctx, opt.Options)
	}
	if err != nil {
		return err
	}
	p, err := console.Until(ctx, func() (*scenario.Prepared, error) { return scenario.Prepare(opt.Options, scale) })
	if err != nil {
		return err
	}
	s := &runner{Prepared: p, Console: opt.Console}
	if opt.Demo && opt.On == scenario.OnNetns {
		s.until = began.Add(withinDemo - afterRows)
	}
	for _, n := range p.Warnings {
		fmt.Fprintln(opt.Stderr, n)
	}
	for _, n := range []string{why, note} {
		if n != "" {
			s.Notes = append(s.Notes, n)
			fmt.Fprintln(opt.Stderr, n)
		}
	}
	dir := ""
	if !opt.DryRun {
		if dir, err = reportDir(opt.ReportDir, opt.Stderr); err != nil {
			return err
		}
	}
	if s.Options.On == scenario.OnFlowsim {
		s.memory = simulated.LimitMemory(s.Spec.HasOCS())
	}
	if err := s.replay(ctx, dir); err != nil {
		_ = os.Remove(dir) // removes only an empty directory, such as our own; one with files stays
		return err
	}
	return nil
}

// where decides on which fabric a run happens; why is the reason if it is not the preferred one.
func where(asked string) (on, why string, err error) {
	if asked == scenario.OnFlowsim {
		return scenario.OnFlowsim, "", nil
	}
	err = netns.Supported(false)
	switch {
	case err == nil:
		return scenario.OnNetns, "", nil
	case asked == scenario.OnNetns:
		return "", "", fmt.Errorf("run on netns: %w", err)
	}
	why = fmt.Sprintf("this machine cannot build the fabric of real packets (%v), so this runs on the simulator.", err)
	if mend := hint.Of(err); mend != "" {
		why += " To change that: " + mend
	}
	return scenario.OnFlowsim, why, nil
}

// ownDir makes a directory of that name, or of that name and the first number that is free: runs that
// begin at once have one each.
func ownDir(name string) (string, error) {
	for i, dir := 1, name; ; i++ {
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", &report.DiskError{Dir: dir, Err: err}
		}
		dir = fmt.Sprintf("%s-%d", name, i)
	}
}

// reportDir checks, before anything runs, that a report can be written.
func reportDir(dir string, stderr io.Writer) (string, error) {
	if dir == "" {
		var err error
		if dir, err = ownDir("lightloom-report"); err != nil {
			return "", err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find report directory: %w", err)
	}
	if err := report.CheckDir(dir); errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
		return "", hint.Wrong(err)
	} else if err != nil {
		return "", err
	}
	older, err := report.Read(dir)
	switch {
	case err == nil:
		fmt.Fprintf(stderr, "%s holds a report of version %s on %s: this one replaces it\n", dir, older.Version,
			older.Workload.Source)
	case !errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(stderr, "%s holds a report that cannot be read: this one replaces it\n", dir)
	}
	return dir, nil
}

// replay runs the rows and writes the report.
func (s *runner) replay(ctx context.Context, dir string) error {
	began := time.Now()
	run := &report.Run{Version: version.This(), Command: s.Args, Started: began, Host: report.ThisHost()}
	predicted, known, err := s.predict(ctx)
	if err != nil {
		return err
	}
	run.Predicted = predicted.Seconds()
	s.announce(predicted, known)
	if s.DryRun {
		return s.showDry()
	}
	if s.explain, err = explain.Create(s.Options.Rules.Explain); err != nil {
		return err
	}
	s.explain.Scale(s.Options.Scale)
	shown, repeated, err := s.runs(ctx, run)
	if err := errors.Join(err, s.explain.Close()); err != nil && (shown == nil || ctx.Err() == nil) {
		return err
	}
	manifest, places, err := s.Manifest()
	if err != nil {
		return err
	}
	run.Inputs = places
	rep, results := shown.report()
	if rep.Manifest = manifest; repeated != nil {
		rep.Add(repeated)
	}
	if err := s.write(results, shown); err != nil {
		return err
	}
	if s.comparesSeeds() && ctx.Err() == nil {
		if err := s.compareSeeds(ctx, rep); err != nil {
			return err
		}
	}
	if s.Options.On == scenario.OnFlowsim {
		s.learn(pacesFile(), run.Policies)
	}
	run.Ended = time.Now()
	run.Wall, run.CPU = run.Ended.Sub(began).Seconds(), report.CPUSeconds()
	if err := rep.WriteDir(dir, run); err != nil {
		return err
	}
	return errors.Join(s.show(rep, dir), context.Cause(ctx)) // a partial report is still an interrupted run
}

// write writes the requested files of the run that is shown.
func (s *runner) write(results []report.PolicyResult, shown *attempt) error {
	outcomes := slices.DeleteFunc(slices.Clone(shown.outcomes),
		func(o *outcome.Outcome) bool { return o == nil })
	var errs []error
	if name := s.Options.Rules.PerCoflow; name != "" {
		errs = append(errs, outcome.WritePerCoflow(name, results))
	}
	if name := s.Options.Rules.PerCircuit; name != "" {
		errs = append(errs, outcome.WritePerCircuit(name, outcomes))
	}
	if name := s.Options.Rules.PerQueue; name != "" {
		errs = append(errs, outcome.WritePerQueue(name, outcomes))
	}
	if name := s.Options.Rules.PerReservation; name != "" {
		errs = append(errs, outcome.WritePerReservation(name, outcomes))
	}
	if name := s.Options.Rules.PerHostFlow; name != "" {
		errs = append(errs, outcome.WritePerHostFlow(name, outcomes))
	}
	return errors.Join(errs...)
}

func (s *runner) show(rep *report.Report, dir string) error {
	if s.Output == console.OutputJSON {
		b, err := rep.JSON()
		if err != nil {
			return err
		}
		_, err = s.Stdout.Write(b)
		return err
	}
	if err := rep.Table(s.Stdout); err != nil {
		return err
	}
	if text := s.iterations(rep); text != "" {
		fmt.Fprintf(s.Stdout, "\n%s\n", text)
	}
	fmt.Fprintf(s.Stdout, "\nreport: %s\npage: lightloom report show %s\n",
		filepath.Join(dir, "report.html"), dir)
	return nil
}

// showDry prints what would run.
func (s *runner) showDry() error {
	t := console.NewTable(s.Stdout, "row", "policy", "fabric", "testbed")
	for _, r := range s.Rows {
		t.Row(r.Name, r.Policy, r.Spec, s.Options.On)
	}
	if err := t.Print(); err != nil {
		return err
	}
	w := s.workload()
	_, err := fmt.Fprintf(s.Stdout, "%s, %s of %s and %d bytes; the last arrives at %v; %s; nothing was run\n",
		console.Count(w.Jobs, "job"), console.Count(w.Coflows, "coflow"), console.Count(int(w.Flows),
			"flow"), w.BytesTotal,
		s.Last(), console.Count(len(s.Faults), "fault"))
	return err
}

func (s *runner) bar() *progressbar.ProgressBar {
	return progressbar.NewOptions(max(1, s.Options.Repeat)*len(s.Rows)*len(s.Jobs),
		progressbar.OptionSetWriter(s.Stderr),
		progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetVisibility(console.IsTerminal(s.Stderr)), progressbar.OptionThrottle(100*time.Millisecond))
}

// predict returns how long the rows will take: on real packets the simulator's result plus start and
// end; on the simulator what this machine has learnt of such rows. known is false where it has not seen
// one of them.
func (s *runner) predict(ctx context.Context) (sum time.Duration, known bool, err error) {
	seen := paces(pacesFile())
	for i, r := range s.Rows {
		if s.Options.On == scenario.OnFlowsim {
			one, ok := estimate(seen, s.pace(&s.Rows[i]))
			if !ok {
				return 0, false, nil
			}
			sum += one
			continue
		}
		o, err := s.simulate(ctx, r, nil)
		if err != nil {
			return 0, false, err
		}
		sum += o.End + aroundRow
	}
	times := max(1, s.Options.Repeat)
	if s.Options.On == scenario.OnFlowsim && s.comparesSeeds() {
		times += comparedSeeds
	}
	return sum * time.Duration(times), true, nil
}

// announce says what runs, and how long it will take where that is known.
func (s *runner) announce(predicted time.Duration, known bool) {
	times, about := "", ""
	if s.Options.Repeat > 1 {
		times = fmt.Sprintf(", %d times", s.Options.Repeat)
	}
	if known {
		about = fmt.Sprintf(": about %v", predicted.Round(100*time.Millisecond))
	}
	fmt.Fprintf(s.Stderr, "%s, %s%s %s%s\n", console.Count(len(s.Jobs), "job"),
		console.Count(len(s.Rows), "policy"), times,
		map[string]string{scenario.OnNetns: "on real packets",
			scenario.OnFlowsim: "on the simulator"}[s.Options.On], about)
}

// hostFlows is the most host flows that the jobs can have.
func (s *runner) hostFlows() (n int) {
	for i := range s.Jobs {
		j := &s.Jobs[i]
		for _, e := range j.Edges {
			if e.Reads != nil {
				flows, _ := e.ReadSum(len(j.Stages[e.To].Tasks))
				n += int(flows)
			} else if e.Kind == controller.Fixed {
				n += len(e.Flows)
			} else {
				n += len(j.Stages[e.From].Tasks) * len(j.Stages[e.To].Tasks)
			}
		}
	}
	return n
}

// simulate runs a row on the simulator. progress, which can be nil, gets the number of jobs that have ended.
func (s *runner) simulate(ctx context.Context, r scenario.Row,
	progress func(ended int)) (*outcome.Outcome, error) {
	sc := s.Scenario(r)
	tb, err := simulated.New(sc, simulated.Options{Policy: s.with, Why: s.explain, Memory: s.memory})
	if err != nil {
		return nil, err
	}
	o, err := testbed.Run(ctx, tb, sc, progress)
	if err := errors.Join(err, tb.Close()); err != nil { // ends the policy's programs
		return nil, fmt.Errorf("simulate %s: %w", r.Name, err)
	}
	return o, nil
}

// row runs one row on the chosen fabric.
func (s *runner) row(ctx context.Context, r scenario.Row, progress func(int)) (*outcome.Outcome,
	report.PolicyRun,
	error) {
	cost := report.PolicyRun{Name: r.Name}
	began, cpu := time.Now(), report.CPUSeconds()
	var o *outcome.Outcome
	var err error
	if s.Options.On == scenario.OnNetns {
		o, err = s.onPackets(ctx, r, progress, &cost)
	} else {
		o, err = s.simulate(ctx, r, progress)
	}
	if err != nil {
		return nil, cost, err
	}
	cost.Wall, cost.CPU = time.Since(began).Seconds(), report.CPUSeconds()-cpu
	if s.Options.On == scenario.OnFlowsim && cost.Wall > 0 {
		cost.EventsPerSecond = float64(o.Steps) / cost.Wall
	}
	return o, cost, nil
}

// report combines the facts known beforehand with the rows' results.
func (s *runner) report(outcomes []*outcome.Outcome) (*report.Report, []report.PolicyResult) {
	m := s.meta(cmp.Or(outcomes[0].Dataplane, "mem"))
	if s.Options.On == scenario.OnNetns {
		s.describePackets(&m, outcomes)
	}
	var results []report.PolicyResult
	for _, o := range outcomes {
		results = append(results, o.ResultOf(s.Prepared))
		m.Controller.LeaderChanges += o.LeaderChanges
	}
	return report.Summarise(m, s.settled(results)), results
}

// meta is what a report says of all rows.
func (s *runner) meta(dataplane string) report.Meta {
	spec := s.Rows[0].Spec
	m := report.Meta{Version: version.This(), Title: "replay", Seed: s.Options.Seed, Notes: s.Notes,
		Workload: s.workload(),
		Fabric: report.Fabric{Kind: spec.Kind, Spec: scenario.SpecText(spec), On: s.Options.On,
			Dataplane: dataplane,
			Privilege: "none", Racks: spec.Racks, Hosts: s.Fabric.Hosts(), Spines: spec.Spines, OCSPorts: spec.Ports,
			NIC: int64(spec.NIC), EPS: int64(spec.EPS), OCS: int64(spec.OCS), Waves: spec.Waves,
			OCSes: spec.OCSes},
		Controller: report.Controller{Replicas: 1, Log: "local"},
	}
	if s.Options.Demo {
		m.Title = "demo"
	}
	return m
}

func (s *runner) workload() report.Workload {
	jobs := s.Foreground()
	sum := workload.Sum(jobs)
	w := report.Workload{Source: filepath.Base(s.Source), Jobs: len(jobs), Coflows: sum.Coflows,
		Flows:      sum.Flows,
		BytesTotal: int64(sum.Bytes),
		BytesTrace: int64(s.Unscaled), Scale: s.Options.Scale, Speedup: s.Options.Speedup,
		ElephantThreshold: int64(s.ElephantThreshold),
		Arrivals:          s.Last().Seconds(), Digest: s.Digest()}
	if s.Background != nil {
		w.Background = &report.Background{Share: s.Options.Rules.Background, Model: workload.BackgroundModel,
			Flows: s.Background.Flows, Bytes: int64(s.Background.Bytes)}
	}
	if s.Options.Workload != "" {
		w.Source, w.Model = s.Source, s.Model // a rate has a slash in it
	} else if s.Options.Trace != "" {
		w.Fold = s.Fold.String()
	} else {
		w.Model = "synthetic-v1"
	}
	return w
}

// chooseScale resolves --scale: the given number, or the smallest round one that this machine can carry.
func chooseScale(ctx context.Context, opt scenario.Options) (float64, string, error) {
	if opt.On == scenario.OnFlowsim {
		return cmp.Or(opt.Scale, 1), "", nil
	}
	return scenario.PacketScale(ctx, opt)
}
