package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/workload"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// The demo's fabric: rates that two cores carry in real packets.
const demoFabric = "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8"

// row is one line of the report: a policy on a fabric.
type row struct {
	Name   string         // in the report
	Policy string         // of package policy
	Spec   topo.Spec      // as run, after scaling
	Demand demand.Options // what its circuits go by; zero: the oracle

	AllStop bool // every circuit goes dark when one moves
}

// setup is what a run consists of, all of it decided before anything is touched.
type setup struct {
	opt       Options
	spec      topo.Spec // as asked, before scaling
	rows      []row
	jobs      []controller.Job // as submitted, after scaling
	unscaled  pathmap.Bytes
	fold      workload.Fold
	source    string
	model     string        // assumptions on what the workload's text leaves open; empty: none
	elephants pathmap.Bytes // as run
	notes     []string
	explain   *explainer // nil: nobody wants to know why
	memory    *thrift    // nil: nobody bounds it
	rootless  bool       // as an ordinary user, whoever this is
	kill      []killing  // leaders to be killed on packets

	faults []fault.Event // in the order of their instants

	fabric *topo.Fabric // of the first row, as run

	background *backgroundTraffic // nil: none
	delays     delays             // of circuits, in stages
}

// elephantFactor is T_e ÷ (δ × OCS rate): the document's 1.125 GB at 10 ms and 100 Gb/s (co-scheduler, section II-A).
const elephantFactor = 9

// prepare reads everything that a run needs and refuses what cannot be. scale is opt.Scale with "auto" resolved.
func prepare(opt Options, scale float64) (*setup, error) {
	s := &setup{opt: opt}
	s.opt.Scale = scale
	var err error
	if opt.Fabric == "" {
		opt.Fabric = demoFabric
	}
	if s.spec, err = topo.FromArgument(opt.Fabric); err != nil {
		return nil, err
	}
	s.spec = s.spec.WithDefaults()
	if s.delays, err = budgetOf(opt.Delays, &s.spec); err != nil {
		return nil, err
	}
	scaled, err := scaleSpec(s.spec, scale)
	if err != nil {
		return nil, err
	}
	if s.fabric, err = topo.New(scaled); err != nil {
		return nil, err
	}
	if err := s.choose(scaled); err != nil {
		return nil, err
	}
	if err := s.readFaults(); err != nil {
		return nil, err
	}
	if err := s.checkRules(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	if err := s.warm(); err != nil {
		return nil, err
	}
	if s.spec.Kind != topo.Crossbar { // there all bytes are elephants
		// Of rates as run: a dark time is what it is, whatever arrivals and sizes were divided by.
		s.elephants = elephantFactor * scaled.OCS.In(scaled.Dark)
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

// choose names the rows: the policies asked for, or the demo's five.
func (s *setup) choose(spec topo.Spec) error {
	names := s.opt.Policies
	if len(names) == 0 {
		names = []string{"random+ecmp", "random+ecmp+sunflow", "crosslayer", "crosslayer+sunflow"}
	}
	for _, n := range names {
		n, err := s.opt.Rules.named(n)
		if err != nil {
			return err
		}
		if _, err := s.policy(n); errors.Is(err, policy.ErrStays) {
			return &insideError{fmt.Sprintf("--migrate: policy %q never moves what runs", n), "leave --migrate away, or take only policies with crosslayer in their name (not crosslayer-paper)"}
		} else if err != nil {
			return err
		}
		lights := s.lights(n)
		if spec.Kind == topo.Crossbar && spec.HasOCS() && !lights {
			return &insideError{fmt.Sprintf("policy %q sets up no circuits, and on this crossbar (with dark=) every byte goes over circuits", n),
				"add a part that does, such as " + n + "+sunflow, or leave dark= away"}
		}
		name := shown(n)
		if slices.ContainsFunc(s.rows, func(r row) bool { return r.Name == name }) {
			name = n // two files of one name
		}
		if err := s.addRows(row{Name: name, Policy: n, Spec: spec, AllStop: s.opt.Rules.AllStop}, lights); err != nil {
			return err
		}
	}
	if s.opt.Demo && len(s.opt.Policies) == 0 && !spec.General() {
		s.rows = append(s.rows, row{Name: "random+ecmp, fat EPS", Policy: "random+ecmp", Spec: spec.WithoutOCS(true)})
		s.notes = append(s.notes, "“random+ecmp, fat EPS” runs on a packet network that was given the OCS's capacity ("+
			spec.WithoutOCS(true).String()+"): what it gains is capacity, not circuits.")
	}
	return nil
}

// lights says whether some part of a policy sets up circuits.
func (s *setup) lights(name string) bool {
	if s.opt.Parts.Light != "" {
		return s.opt.Parts.Light != "none"
	}
	for _, word := range strings.Split(name, "+") {
		if strings.HasPrefix(word, "schedule:") {
			return true
		}
		for _, p := range policy.Parts() {
			if p.Name == word && slices.Contains(p.Questions, policy.Light) {
				return true
			}
		}
	}
	return false
}

func (s *setup) policy(name string) (controller.Policy, error) {
	if s.opt.with != nil {
		return s.opt.with(), nil
	}
	p := s.opt.Parts
	return policy.New(name, policy.Options{Place: p.Place, Light: p.Light, Route: p.Route, Share: p.Share, EveryBundle: s.opt.Rules.EveryFlow,
		Explain: s.explain.teller(name), Migrate: p.Migrate})
}

// load makes the jobs: of the trace, or synthetic ones.
func (s *setup) load() error {
	var jobs []controller.Job
	var err error
	if s.opt.given != nil {
		s.source, jobs = "given", s.opt.given
	} else if s.opt.Workload != "" {
		jobs, err = s.modelled()
	} else if s.opt.Trace == "" {
		s.source = "synthetic" // its long coflows are elephants as run, whatever they are divided by
		jobs, err = workload.Synthetic(workload.SyntheticOptions{Seed: s.opt.Seed, Jobs: s.opt.Coflows, Racks: s.spec.Racks,
			HostsPerRack: s.spec.Hosts, Elephant: pathmap.Bytes(float64(elephantFactor*s.spec.OCS.In(s.spec.Dark)) * max(1, s.opt.Speedup))})
	} else {
		jobs, err = s.trace()
	}
	if err != nil {
		return err
	}
	seat(s.fabric, jobs)
	if err := s.attributed(jobs); err != nil {
		return err
	}
	s.unscaled = workload.Sum(jobs).Bytes
	s.rule(jobs)
	if jobs, err = s.mixed(jobs); err != nil {
		return err
	}
	if jobs, err = s.ending(jobs); err != nil {
		return err
	}
	s.notes = append(s.notes, s.opt.Rules.described(s.spec, s.quantum())...)
	if f := s.opt.Parts.Migrate; f > 0 {
		s.notes = append(s.notes, fmt.Sprintf("--migrate: tasks of running jobs are moved where the gain in utility, over the time that the job still sends for, exceeds %v times the bits to be sent again and the computing to be repeated.", f))
	}
	if s.jobs = jobs; s.opt.Scale == 1 && s.opt.Speedup == 1 {
		return nil // a whole trace need not be held twice
	}
	s.jobs, err = workload.Scale(jobs, workload.ScaleOptions{Scale: s.opt.Scale, Speedup: s.opt.Speedup})
	return err
}

func (s *setup) trace() ([]controller.Job, error) {
	f, err := os.Open(s.opt.Trace)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	t, err := workload.ReadTrace(f, s.opt.Trace)
	if err != nil {
		return nil, err
	}
	if s.opt.Rules.Compat != "" {
		if n := t.AsCoflowsim(); n > 0 {
			s.notes = append(s.notes, fmt.Sprintf("%d coflows have several mappers or reducers in a rack, or bytes that do not divide among mappers: they are joined, and bytes rounded up to whole megabytes a flow.", n))
		}
	}
	jobs, fold, err := t.Jobs(workload.FoldOptions{Racks: s.spec.Racks, HostsPerRack: s.spec.Hosts, Coflows: s.opt.Coflows, MaxWidth: s.opt.Rules.MaxWidth})
	s.fold, s.source = fold, t.Name
	return jobs, err
}

// last is when the last job arrives.
func (s *setup) last() time.Duration {
	at := time.Duration(0)
	for i := range s.jobs {
		at = max(at, s.jobs[i].Arrival)
	}
	return at
}

// control is what one step of the controller takes beside what devices take: for the simulator and for the δ that
// schedules assume. The figures are medians of the demo's three replicas on two cores.
type control struct {
	commit, rpc, drain time.Duration
}

// controlOf returns what control takes on a fabric in the simulator: nothing on a crossbar, where δ is the dark time
// and nothing else.
func controlOf(s topo.Spec) control {
	if s.Kind == topo.Crossbar {
		return control{}
	}
	return defaultControl()
}

func defaultControl() control {
	return control{commit: 2 * time.Millisecond, rpc: time.Millisecond, drain: 3 * time.Millisecond}
}

// delta is the whole outage that a circuit move should take (p90 of the model): the intent is committed, ToRs forget
// the old circuit, its port drains, the OCS moves, the ToR learns of the new one, and the outcome is committed.
func (c control) delta(d device.Delays) time.Duration {
	return 2*c.commit + 3*c.rpc + c.drain + d.Quantile(0.9)
}

// rollout is how moves are rolled out where their whole outage should be delta: one that takes thrice as long, and at
// least 5 s, is given up.
func (c control) rollout(delta time.Duration) rollout.Options {
	return rollout.Options{Drain: c.drain, Timeout: max(5*time.Second, 3*delta), Retry: 50 * time.Millisecond}
}
