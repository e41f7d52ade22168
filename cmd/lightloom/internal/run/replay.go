package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/cmd/lightloom/internal/version"
	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/emulator/netns"
)

// Replay runs every row of what opt asks for, prints the comparison and writes the report.
func Replay(ctx context.Context, opt Options) error {
	on, why, err := where(opt)
	if err != nil {
		return err
	}
	opt.On = on
	scale, note, err := chooseScale(ctx, opt)
	if err != nil {
		return err
	}
	s, err := prepare(opt, scale)
	if err != nil {
		return err
	}
	for _, n := range []string{why, note} {
		if n != "" {
			s.notes = append(s.notes, n)
			fmt.Fprintln(opt.Stderr, n)
		}
	}
	dir, err := reportDir(opt.ReportDir)
	if err != nil {
		return err
	}
	if s.opt.On == OnFlowsim {
		s.memory = beThrifty(s.spec.HasOCS())
	}
	if err := s.replay(ctx, dir); err != nil {
		_ = os.Remove(dir) // made by us and still empty, or somebody's and not: then it stays
		return err
	}
	return nil
}

// where decides on which fabric a run happens; why is the reason if it is not what was hoped for.
func where(opt Options) (on, why string, err error) {
	if opt.On == OnFlowsim {
		return OnFlowsim, "", nil
	}
	err = netns.Supported(false)
	switch {
	case err == nil:
		return OnNetns, "", nil
	case opt.On == OnNetns:
		return "", "", fmt.Errorf("run on netns: %w", err)
	}
	why = fmt.Sprintf("this machine cannot build the fabric of real packets (%v), so this runs on the simulator.", err)
	if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
		why += " To change that: " + h.Hint()
	}
	return OnFlowsim, why, nil
}

// reportDir makes sure that a report can be written, before anything is run for it.
func reportDir(dir string) (string, error) {
	if dir == "" {
		for i := 0; ; i++ {
			dir = "lightloom-report"
			if i > 0 {
				dir = fmt.Sprintf("lightloom-report-%d", i)
			}
			if _, err := os.Lstat(dir); os.IsNotExist(err) {
				break
			}
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find report directory: %w", err)
	}
	return dir, report.CheckDir(dir)
}

// replay runs the rows and writes the report.
func (s *setup) replay(ctx context.Context, dir string) error {
	began := time.Now()
	run := &report.Run{Version: version.This(), Command: s.opt.Args, Started: began, Host: report.ThisHost()}
	predicted, err := s.predict(ctx)
	if err != nil {
		return err
	}
	run.Predicted = predicted.Seconds()
	times := ""
	if s.opt.Repeat > 1 {
		times = fmt.Sprintf(", %d times", s.opt.Repeat)
	}
	fmt.Fprintf(s.opt.Stderr, "%d jobs, %d policies%s %s: about %v\n", len(s.jobs), len(s.rows), times,
		map[string]string{OnNetns: "on real packets", OnFlowsim: "on the simulator"}[s.opt.On], predicted.Round(time.Second))
	if s.explain, err = newExplainer(s.opt.Rules.Explain); err != nil {
		return err
	}
	shown, repeated, err := s.runs(ctx, run)
	if err := errors.Join(err, s.explain.close()); err != nil {
		return err
	}
	manifest, places, err := s.manifest()
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
	if s.opt.Demo && len(s.opt.Policies) == 0 {
		if err := s.compareSeeds(ctx, rep); err != nil {
			return err
		}
	}
	run.Ended = time.Now()
	run.Wall, run.CPU = run.Ended.Sub(began).Seconds(), cpuSeconds()
	if err := rep.WriteDir(dir, run); err != nil {
		return err
	}
	return s.show(rep, dir)
}

// write writes the files that were asked for, of the run that is shown.
func (s *setup) write(results []report.PolicyResult, shown *attempt) error {
	outcomes := slices.DeleteFunc(slices.Clone(shown.outcomes), func(o *outcome) bool { return o == nil })
	var errs []error
	if name := s.opt.Rules.PerCoflow; name != "" {
		errs = append(errs, writePerCoflow(name, results))
	}
	if name := s.opt.Rules.PerCircuit; name != "" {
		errs = append(errs, writePerCircuit(name, outcomes))
	}
	if name := s.opt.Rules.PerQueue; name != "" {
		errs = append(errs, writePerQueue(name, outcomes))
	}
	return errors.Join(errs...)
}

func (s *setup) show(rep *report.Report, dir string) error {
	if s.opt.Output == OutputJSON {
		b, err := rep.JSON()
		if err != nil {
			return err
		}
		_, err = s.opt.Stdout.Write(b)
		return err
	}
	if err := rep.Table(s.opt.Stdout); err != nil {
		return err
	}
	fmt.Fprintf(s.opt.Stdout, "\nreport: %s\n", filepath.Join(dir, "report.html"))
	return nil
}

func (s *setup) bar() *progressbar.ProgressBar {
	return progressbar.NewOptions(max(1, s.opt.Repeat)*len(s.rows)*len(s.jobs), progressbar.OptionSetWriter(s.opt.Stderr),
		progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetVisibility(isTerminal(s.opt.Stderr)), progressbar.OptionThrottle(100*time.Millisecond))
}

// predict says how long the rows will take: on real packets what the simulator makes of them, and starting and ending;
// on the simulator what so many bundles take on one core.
func (s *setup) predict(ctx context.Context) (time.Duration, error) {
	const around = 1500 * time.Millisecond
	if s.opt.On == OnFlowsim {
		once := time.Duration(0)
		for _, r := range s.rows {
			each := simulatorBundle
			if anneals(r.Policy) {
				each = annealedBundle
			}
			once += simulatorStart + time.Duration(s.bundles())*each
		}
		return time.Duration(max(1, s.opt.Repeat)) * once, nil
	}
	sum := time.Duration(0)
	for _, r := range s.rows {
		o, err := simulate(ctx, s, r, nil)
		if err != nil {
			return 0, err
		}
		sum += o.End + around
	}
	return sum * time.Duration(max(1, s.opt.Repeat)), nil
}

// What the simulator takes to begin, and for each bundle: the 8,000 bundles of FB2010's first 100 coflows on 16 racks
// take 0.1 s under random+ecmp and 1.9 s under crosslayer+sunflow; the 706,000 of all of it on one switch take one second
// under sebf and some under tcp.
const (
	simulatorStart  = 50 * time.Millisecond
	annealedBundle  = 120 * time.Microsecond
	simulatorBundle = 5 * time.Microsecond
)

// anneals says whether a policy looks for its answers by annealing.
func anneals(policy string) bool {
	return strings.Contains(policy, "crosslayer") || strings.Contains(policy, "anneal") || strings.Contains(policy, "application")
}

// bundles is at most how many bundles the jobs can hold.
func (s *setup) bundles() (n int) {
	for i := range s.jobs {
		j := &s.jobs[i]
		for _, e := range j.Edges {
			if e.Kind == controller.Fixed {
				n += len(e.Flows)
			} else {
				n += len(j.Stages[e.From].Tasks) * len(j.Stages[e.To].Tasks)
			}
		}
	}
	return n
}

// row runs one row on the fabric that was chosen.
func (s *setup) row(ctx context.Context, r row, progress func(int)) (*outcome, report.PolicyRun, error) {
	cost := report.PolicyRun{Name: r.Name}
	began, cpu := time.Now(), cpuSeconds()
	var o *outcome
	var err error
	if s.opt.On == OnNetns {
		o, err = s.onPackets(ctx, r, progress, &cost)
	} else {
		o, err = simulate(ctx, s, r, progress)
	}
	if err != nil {
		return nil, cost, err
	}
	s.explain.add(o.why)
	cost.Wall, cost.CPU = time.Since(began).Seconds(), cpuSeconds()-cpu
	if s.opt.On == OnFlowsim && cost.Wall > 0 {
		cost.EventsPerSecond = float64(o.Steps) / cost.Wall
	}
	return o, cost, nil
}

// report joins what is known beforehand with what the rows left behind.
func (s *setup) report(outcomes []*outcome) (*report.Report, []report.PolicyResult) {
	spec := s.rows[0].Spec
	m := report.Meta{Version: version.This(), Title: "replay", Seed: s.opt.Seed, Notes: s.notes,
		Workload: s.workload(),
		Fabric: report.Fabric{Kind: spec.Kind, Spec: specText(spec), On: s.opt.On, Dataplane: cmp.Or(outcomes[0].Dataplane, "mem"),
			Privilege: "none", Racks: spec.Racks, Hosts: s.fabric.Hosts(), Spines: spec.Spines, OCSPorts: spec.Ports,
			NIC: int64(spec.NIC), EPS: int64(spec.EPS), OCS: int64(spec.OCS), Waves: spec.Waves},
		Controller: report.Controller{Replicas: 1, Log: "local"},
	}
	if s.opt.Demo {
		m.Title = "demo"
	}
	if s.opt.On == OnNetns {
		s.describePackets(&m, outcomes)
	}
	var results []report.PolicyResult
	for _, o := range outcomes {
		results = append(results, s.result(o))
		m.Controller.LeaderChanges += o.LeaderChanges
		m.Controller.LeaderOutageSeconds = max(m.Controller.LeaderOutageSeconds, o.LeaderOutage.Seconds())
	}
	return report.Summarise(m, s.settled(results)), results
}

func (s *setup) workload() report.Workload {
	jobs := s.foreground()
	sum := workload.Sum(jobs)
	w := report.Workload{Source: filepath.Base(s.source), Jobs: len(jobs), Coflows: sum.Coflows, Flows: int64(sum.Flows), BytesTotal: int64(sum.Bytes),
		BytesTrace: int64(s.unscaled), Scale: s.opt.Scale, Speedup: s.opt.Speedup, Elephants: int64(s.elephants),
		Arrivals: s.last().Seconds(), Digest: digest(s.jobs)}
	if s.background != nil {
		w.Background = &report.Background{Share: s.opt.Rules.Background, Model: workload.BackgroundModel, Flows: s.background.flows, Bytes: int64(s.background.bytes)}
	}
	if s.opt.Workload != "" {
		w.Source, w.Model = s.source, s.model // a rate has a slash in it
	} else if s.opt.Trace != "" {
		w.Fold = s.fold.String()
	} else {
		w.Model = "synthetic-v1"
	}
	return w
}

// digest names jobs by their content: flows as numbers, whose text would be the largest thing of a run, the rest as JSON.
func digest(jobs []controller.Job) string {
	h := sha256.New()
	var buf []byte
	for i := range jobs {
		j := jobs[i]
		j.Edges = slices.Clone(j.Edges)
		buf = buf[:0]
		for k := range j.Edges {
			for _, f := range j.Edges[k].Flows {
				buf = binary.AppendVarint(binary.AppendVarint(buf, int64(f.Src)), int64(f.Dst))
				buf = binary.AppendVarint(binary.AppendVarint(buf, int64(f.Bytes)), int64(f.Count))
			}
			buf = append(buf, 0xff)
			j.Edges[k].Flows = nil
		}
		b, err := json.Marshal(&j)
		if err != nil {
			panic("run: " + err.Error()) // jobs hold nothing that JSON refuses
		}
		h.Write(b)
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// chooseScale resolves --scale: as it was given, or the smallest round number that this machine carries.
func chooseScale(ctx context.Context, opt Options) (float64, string, error) {
	if opt.On == OnFlowsim {
		return cmp.Or(opt.Scale, 1), "", nil
	}
	return packetScale(ctx, opt)
}
