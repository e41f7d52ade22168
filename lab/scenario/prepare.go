package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/workload"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// The demo's fabric: rates that two cores carry in real packets.
const demoFabric = "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8"

// The demo of training jobs: 8 ranks in pairs of each parallelism, on racks of their own.
const (
	TrainingDemo = "training"

	trainingFabric = "hybrid:racks=8,hosts=1,spines=2,eps=25Mbps,ocs=100Mbps,dark=10ms,nic=100Mbps,slots=64"
	trainingJob    = "training:steps=2,iterations=2,compute=50ms,tp=1MB,pp=500kB,dp=2MB"
)

// trains reports whether this is the demo of training jobs.
func (o *Options) trains() bool { return o.Demo && o.Workload == TrainingDemo }

// Row is one line of the report: a policy on a fabric.
type Row struct {
	Name   string         // in the report
	Policy string         // of package policy
	Spec   topo.Spec      // as run, after scaling
	Demand demand.Options // what its circuits go by; zero: the oracle

	AllStop bool // every circuit goes dark when one moves

	parsed *policy.Spec // of Policy, with the overrides of the options; nil in a process that got the row as JSON
}

// Can returns the abilities of the row's policy. The row is of Prepared.
func (r *Row) Can() controller.Capabilities { return r.parsed.Capabilities() }

// Prepared is the result of Prepare: jobs and faults on a fabric, and a row for each policy. It is
// complete before anything runs.
type Prepared struct {
	Options           Options
	Spec              topo.Spec // as given, before scaling
	Rows              []Row
	Jobs              []controller.Job // as submitted, after scaling
	Unscaled          pathmap.Bytes
	Fold              workload.Fold
	Source            string
	Model             string        // assumptions on what the workload's text leaves open; empty: none
	ElephantThreshold pathmap.Bytes // as run
	Notes             []string
	Warnings          []string // about input that was left out, to print at once

	Faults []fault.Event // in the order of their instants
	Fabric *topo.Fabric  // of the first row, as run

	Background *backgroundTraffic // nil: none
	Delays     Delays             // of circuits, in stages

	digest string // of Jobs; empty until it is asked for
}

// Prepare reads everything that a run needs and refuses impossible input. scale is opt.Scale with
// "auto" resolved. Its errors are mistakes of the user.
func Prepare(opt Options, scale float64) (*Prepared, error) {
	p, err := prepare(opt, scale)
	return p, hint.Wrong(err)
}

func prepare(opt Options, scale float64) (*Prepared, error) {
	s := &Prepared{Options: opt}
	s.Options.Scale = scale
	var err error
	switch {
	case opt.trains():
		opt.Fabric, s.Options.Workload = cmp.Or(opt.Fabric, trainingFabric), trainingJob
	case opt.Fabric == "":
		opt.Fabric = demoFabric
	}
	if s.Spec, err = topo.FromArgument(opt.Fabric); err != nil {
		return nil, err
	}
	s.Spec = s.Spec.WithDefaults()
	if s.Delays, err = budgetOf(opt.Delays, &s.Spec); err != nil {
		return nil, err
	}
	scaled, err := scaleSpec(s.Spec, scale)
	if err != nil {
		return nil, err
	}
	if s.Fabric, err = topo.New(scaled); err != nil {
		return nil, err
	}
	if err := s.Choose(scaled); err != nil {
		return nil, err
	}
	if err := s.readFaults(); err != nil {
		return nil, err
	}
	if err := s.checkRules(); err != nil {
		return nil, err
	}
	if err := s.Load(); err != nil {
		return nil, err
	}
	if err := s.warm(); err != nil {
		return nil, err
	}
	if s.Spec.Kind != topo.Crossbar { // there all bytes are elephants
		// Of rates as run: a dark time is what it is, whatever arrivals and sizes were divided by.
		s.ElephantThreshold = policy.ElephantFactor * scaled.OCS.In(scaled.LeastDark())
	}
	return s, nil
}

// scaleSpec divides a spec's rates.
func scaleSpec(s topo.Spec, by float64) (topo.Spec, error) {
	s = s.Divide(by)
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("scale fabric by %v: %w", by, err)
	}
	return s, nil
}

// Choose sets the rows: the requested policies, or the demo's six.
func (s *Prepared) Choose(spec topo.Spec) error {
	names := s.Options.Policies
	if len(names) == 0 {
		names = []string{"random+ecmp", "random+ecmp+sunflow", "crosslayer", "crosslayer+sunflow", "joint"}
		if s.Options.Workload == trainingJob {
			names = []string{"random+ecmp", "random+ecmp+phases-once", "random+ecmp+phases"}
		}
	}
	for _, n := range names {
		n, err := s.Options.Rules.named(n)
		if err != nil {
			return err
		}
		parsed, err := policy.Parse(n, s.Options.Parts)
		if errors.Is(err, policy.ErrStays) {
			return hint.New(fmt.Sprintf("--migrate: policy %q never moves what runs", n),
				"leave --migrate away, or take only policies with crosslayer in their name (not crosslayer-paper)")
		}
		if err != nil {
			return err
		}
		if spec.Kind == topo.Crossbar && spec.HasOCS() && !parsed.Capabilities().Circuits {
			return hint.New(fmt.Sprintf("policy %q sets up no circuits, and on this crossbar (with dark=) every byte goes "+
				"over circuits", n),
				"add a part that does, such as "+n+"+sunflow, or leave dark= away")
		}
		name := policy.Shown(n)
		if slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Name == name }) {
			name = n // two files of one name
		}
		if err := s.addRows(Row{Name: name, Policy: n, Spec: spec, AllStop: s.Options.Rules.AllStop,
			parsed: parsed}); err != nil {
			return err
		}
	}
	if s.Options.Demo && len(s.Options.Policies) == 0 && !spec.General() {
		s.Rows = append(s.Rows, Row{Name: "random+ecmp, fat EPS", Policy: "random+ecmp",
			Spec:   spec.WithoutOCS(true),
			parsed: s.Rows[0].parsed})
		s.Notes = append(s.Notes, "“random+ecmp, fat EPS” runs on a packet network that was given the OCS's capacity ("+
			spec.WithoutOCS(true).String()+"): what it gains is capacity, not circuits.")
	}
	return nil
}

// Load makes the jobs: of the trace, or synthetic ones.
func (s *Prepared) Load() error {
	var jobs []controller.Job
	var err error
	if s.Options.Given != nil {
		s.Source, jobs = "given", s.Options.Given
	} else if s.Options.Workload != "" {
		jobs, err = s.modelled()
	} else if s.Options.Trace == "" {
		s.Source = "synthetic" // its long coflows are elephants as run, whatever they are divided by
		jobs, err = workload.Synthetic(s.synthetic())
	} else {
		jobs, err = s.trace()
	}
	if err != nil {
		return err
	}
	FitHosts(s.Fabric, jobs)
	if err := s.attributed(jobs); err != nil {
		return err
	}
	s.Unscaled = workload.Sum(jobs).Bytes
	s.rule(jobs)
	if jobs, err = s.mixed(jobs); err != nil {
		return err
	}
	if jobs, err = s.ending(jobs); err != nil {
		return err
	}
	s.Notes = append(s.Notes, s.Options.Rules.described(s.Spec, s.quantum())...)
	if f := s.Options.Parts.Migrate; f > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("--migrate: tasks of running jobs are moved where the gain in utility, over "+
			"the time that the job still sends for, exceeds %v times the bits to be sent again and the computing to be "+
			"repeated.", f))
	}
	if s.Jobs = jobs; s.Options.Scale == 1 && s.Options.Speedup == 1 {
		return nil // a whole trace need not be held twice
	}
	s.Jobs, err = workload.Scale(jobs, workload.ScaleOptions{Scale: s.Options.Scale,
		Speedup: s.Options.Speedup})
	return err
}

// synthetic are the options of the built-in jobs. Fewer jobs of a demo come at the same rate, in less time.
func (s *Prepared) synthetic() workload.SyntheticOptions {
	o := workload.SyntheticOptions{Seed: s.Options.Seed, Jobs: s.Options.Coflows, Racks: s.Spec.Racks,
		HostsPerRack: s.Spec.Hosts}
	o.Elephant = pathmap.Bytes(float64(policy.ElephantFactor*s.Spec.OCS.In(s.Spec.Dark)) * max(1,
		s.Options.Speedup))
	if s.Options.Demo {
		o.Window = demoWindow(s.Options.Coflows)
	}
	return o
}

// demoWindow is the time in which jobs of a demo arrive; 0: what the generator takes for all of them.
func demoWindow(jobs int) time.Duration {
	const each = 100 * time.Millisecond
	return time.Duration(jobs) * each
}

func (s *Prepared) trace() ([]controller.Job, error) {
	f, err := os.Open(s.Options.Trace)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	t, err := workload.ReadTrace(f, s.Options.Trace)
	if err != nil {
		return nil, err
	}
	if s.Options.Rules.Compat == CompatCoflowsim {
		if n := t.AsCoflowsim(); n > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%d coflows have several mappers or reducers in a rack, or bytes that do "+
				"not divide among mappers: they are joined, and bytes rounded up to whole megabytes a flow.", n))
		}
	}
	jobs, fold, err := t.Jobs(workload.FoldOptions{Racks: s.Spec.Racks, HostsPerRack: s.Spec.Hosts,
		Coflows:  s.Options.Coflows,
		MaxWidth: s.Options.Rules.MaxWidth})
	s.Fold, s.Source = fold, t.Name
	return jobs, err
}

// Last is when the last job arrives.
func (s *Prepared) Last() time.Duration {
	at := time.Duration(0)
	for i := range s.Jobs {
		at = max(at, s.Jobs[i].Arrival)
	}
	return at
}

// mostDecided bounds the flows of a run whose decisions are kept: each circuit reservation counts what its
// host flows have left.
const mostDecided = 10_000

// KeepsDecisions reports whether decisions of the run are kept.
func (s *Prepared) KeepsDecisions() bool {
	return s.Options.Record && workload.Sum(s.Jobs).Flows <= mostDecided
}

// controlOf returns the controller's delays on a simulated fabric: none on a crossbar, where δ is the
// dark time alone.
func controlOf(s topo.Spec) rollout.Control {
	if s.Kind == topo.Crossbar {
		return rollout.Control{}
	}
	return rollout.DefaultControl()
}
