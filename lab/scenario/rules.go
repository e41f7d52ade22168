package scenario

import (
	"fmt"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/workload"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// Rules choose how a trace is replayed: which coflows, when they start, what happens to local bytes,
// and when rates are decided. All but the first two are for the simulator only.
type Rules struct {
	MaxWidth  int  // leave out coflows of more flows; 0: none
	AllAtZero bool // all arrive together, when the run begins

	OneAtATime bool            // each arrives when the one before has ended
	CarryLocal bool            // bytes between a host and itself take both directions of its port; else they take no time
	Epoch      time.Duration   // jobs are admitted at its multiples; 0: when they arrive
	Redecide   policy.Redecide // when rates are decided anew; empty: when the policy wants
	Compat     string          // one of Compats, or none
	Step       time.Duration   // ends of host flows are reported at its multiples; 0: when they come

	Proportional bool // hosts that share by themselves get proportionally fair rates, not max-min fair ones

	AllStop    bool    // every circuit goes dark when one moves
	Background float64 // share of each link that other traffic fills; 0: none
	Attributes string  // file of weights and deadlines; empty: none

	Explain    string // file that says why tasks and host flows went where they did, .jsonl, or .txt to read; empty: none
	PerCoflow  string // file that gets a line a coflow, .csv or .jsonl; empty: none
	PerCircuit string // likewise, a line a circuit
	PerQueue   string // likewise, a line a port

	PerReservation string // likewise, a line a circuit reservation that has ended
	PerHostFlow    string // likewise, a line a host flow; on packets alone
}

// The simulators whose rules --compat can select: Varys' (coflowsim), Sunflow's own and Sincronia's own.
const (
	CompatCoflowsim = "coflowsim"
	CompatSunflow   = "sunflow"
	CompatSincronia = "sincronia"
)

// Compats are all of them.
func Compats() []string { return []string{CompatCoflowsim, CompatSunflow, CompatSincronia} }

// compatPrefix begins the names of the policies that have the rules of a simulator.
func compatPrefix(compat string) string {
	if compat == CompatSunflow {
		return "sunflowsim-" // sunflow- is that of policies of our own
	}
	return compat + "-"
}

// wants lists, by their flags, the rules that need the simulator.
func (r *Rules) wants() []string {
	var all []string
	for _, f := range []struct {
		flag string
		set  bool
	}{{"--one-at-a-time", r.OneAtATime}, {"--local-flows carried",
		r.CarryLocal}, {"--admission epoch", r.Epoch > 0},
		{"--redecide", r.Redecide != ""}, {"--compat", r.Compat != ""}, {"--fairness proportional",
			r.Proportional},
		{"--time-step", r.Step > 0}} {
		if f.set {
			all = append(all, f.flag)
		}
	}
	return all
}

// checkRules refuses rules that the chosen fabric cannot follow.
func (s *Prepared) checkRules() error {
	r := &s.Options.Rules
	if words := r.wants(); s.Options.On == OnNetns && len(words) > 0 {
		return fmt.Errorf("replay on netns: %s is the simulator's alone: add --on flowsim",
			strings.Join(words, ", "))
	}
	if r.AllStop && !s.Spec.HasOCS() {
		return hint.New("--all-stop: this fabric has no circuits that could stop",
			"leave it away, or take a fabric with an OCS, such as hybrid:racks=16,hosts=2")
	}
	if r.Background > 0 && (r.Compat != "" || r.OneAtATime) {
		return hint.New("--background: --compat and --one-at-a-time leave no room for other traffic",
			"leave --background away")
	}
	if err := s.checkCompat(); err != nil {
		return err
	}
	if err := s.checkPod(); err != nil {
		return err
	}
	if err := s.checkSchedules(); err != nil {
		return err
	}
	if err := s.checkMultihop(); err != nil {
		return err
	}
	if s.Options.On != OnNetns {
		return s.checkWavelengths()
	}
	if err := southbound.CheckPackets(s.Spec); err != nil {
		return err
	}
	for _, row := range s.Rows {
		if err := row.checkSimulated(); err != nil {
			return err
		}
	}
	return nil
}

// checkCompat refuses fabrics that the imitated simulator does not have.
func (s *Prepared) checkCompat() error {
	compat, spec := s.Options.Rules.Compat, &s.Spec
	crossbar := spec.Kind == topo.Crossbar && len(spec.Own) == 0
	if compat != "" && (!crossbar || spec.HasOCS() && compat != CompatSunflow) {
		return fmt.Errorf("replay with --compat %s: its fabric is one big switch: write --fabric "+
			"crossbar:ports=150,rate=1Gbps", compat)
	}
	for _, row := range s.Rows {
		if !strings.Contains(row.Policy, compatPrefix(CompatSunflow)) {
			continue
		}
		switch circuits := row.Can().Circuits; {
		case circuits && !(crossbar && spec.HasOCS()):
			return hint.New(fmt.Sprintf("policy %q needs a fabric of circuits alone, as Sunflow's simulator has it", row.Name),
				"write --fabric crossbar:ports=150,rate=1Gbps,dark=10ms")
		case !circuits && (!crossbar || spec.HasOCS()):
			return hint.New(fmt.Sprintf("policy %q is for packets on one big switch", row.Name),
				"write --fabric crossbar:ports=150,rate=1Gbps")
		case !row.Demand.Oracle():
			return hint.New(fmt.Sprintf("policy %q knows all traffic, as Sunflow's simulator does", row.Name),
				"leave --demand away")
		}
	}
	return nil
}

// checkSimulated refuses a row whose policy needs the simulator.
func (r *Row) checkSimulated() error {
	switch can := r.Can(); {
	case can.Relays:
		return hint.New(fmt.Sprintf("replay on netns: policy %q: %v", r.Policy, policy.ErrKeepsOwn),
			"add --on flowsim, or take rotor, which sends all directly")
	case can.Simulated:
		return fmt.Errorf("replay on netns: policy %q goes by another simulator's rules: add --on flowsim, or take the "+
			"policy without that simulator's name before its own", r.Name)
	}
	return nil
}

// named returns the policy of a name under the rules.
func (r *Rules) named(name string) (string, error) {
	if r.Compat == "" {
		return name, nil
	}
	prefix := compatPrefix(r.Compat)
	full := prefix + strings.TrimPrefix(name, prefix)
	var known []string
	for _, p := range policy.Parts() {
		if p.Name == full {
			return full, nil
		}
		if strings.HasPrefix(p.Name, prefix) {
			known = append(known, strings.TrimPrefix(p.Name, prefix))
		}
	}
	return "", fmt.Errorf("policy %q has no rules of %s: write --policy %s", name, r.Compat,
		strings.Join(known, " or --policy "))
}

// quantum is the time step: that of the compatible mode is the time of a megabyte at a port. 0 if time
// has no steps.
func (s *Prepared) quantum() time.Duration {
	if s.Options.Rules.Compat != CompatCoflowsim {
		return s.Options.Rules.Step
	}
	return workload.Megabyte.Over(s.Spec.NIC)
}

// rule changes jobs to follow the rules. coflowsim admits at the beginning of an epoch what arrives
// until its end, and counts a coflow's time from there.
func (s *Prepared) rule(jobs []controller.Job) {
	r := &s.Options.Rules
	for i := range jobs {
		j := &jobs[i]
		if r.AllAtZero || r.Compat == CompatSincronia {
			j.Arrival = 0
		}
		if e := s.epoch(); r.Compat == CompatCoflowsim {
			j.Arrival = max(0, NextMultiple(j.Arrival, e)-e)
		}
		for k := range j.Edges {
			j.Edges[k].KeepLocal = r.CarryLocal && !j.Edges[k].FollowsTasks()
		}
	}
}

func (s *Prepared) epoch() time.Duration { return max(s.Options.Rules.Epoch, s.quantum()) }

// NextMultiple returns the first multiple of a step at or after an instant.
func NextMultiple(at, step time.Duration) time.Duration { return (at + step - 1) / step * step }

// described returns, for the report, what the rules change.
func (r *Rules) described(spec topo.Spec, quantum time.Duration) []string {
	var out []string
	if spec.Kind == topo.Crossbar {
		out = append(out, "crossbar: payload uses the ports whole, headers are not charged, so that figures compare with "+
			"other simulators'.")
	}
	if r.AllAtZero {
		out = append(out, "all coflows arrive when the run begins.")
	}
	if r.OneAtATime {
		out = append(out, "each coflow arrives when the one before has ended.")
	}
	if r.CarryLocal {
		out = append(out, "bytes between a rack's host and itself take both directions of its port.")
	}
	if r.Epoch > 0 {
		out = append(out, fmt.Sprintf("coflows are admitted at multiples of %v.", r.Epoch))
	}
	if r.Step > 0 {
		out = append(out, fmt.Sprintf("ends of flows are reported at multiples of %v, up to that much late.", r.Step))
	}
	if r.Proportional {
		out = append(out, "TCP on the simulator shares links proportionally fairly: a host flow across several full links "+
			"gets less than max-min fairness would give it.")
	}
	if r.AllStop {
		out = append(out, "all-stop: every circuit goes dark when one moves.")
	}
	switch r.Redecide {
	case policy.AtFlows:
		out = append(out, "rates are decided anew at the end of every host flow.")
	case policy.AtCoflows:
		out = append(out, "rates are decided anew at the start and end of coflows only.")
	}
	switch r.Compat {
	case CompatSunflow:
		out = append(out, "rules of Sunflow's own simulator: exact times, not all stop; circuits are planned and rates set "+
			"when that simulator does.")
	case CompatSincronia:
		out = append(out, "rules of Sincronia's offline simulator: all coflows arrive when the run begins; their order is "+
			"found once, and in it each flow gets all that its two ports have left.")
	case CompatCoflowsim:
		out = append(out, fmt.Sprintf("rules of %s: time goes by steps of %v; a coflow is admitted at the beginning of the "+
			"epoch that it arrives in, up to one epoch before, and its time counts from there.", r.Compat, quantum))
	}
	return out
}

// Bound is the shortest time that a coflow's bytes take with the fabric to itself: the longest that the
// port of one of its hosts takes, with headers as on the fabric. 0 if its flows depend on placement or
// are all local.
func (s *Prepared) Bound(j *controller.Job, e *controller.Edge) time.Duration {
	if e.FollowsTasks() {
		return 0
	}
	return s.Alone(controller.Expand(j, e, nil))
}

// Alone is the same of host flows.
func (s *Prepared) Alone(c controller.Columns) time.Duration {
	wire := controller.Wire
	if s.Spec.Kind == topo.Crossbar {
		wire = func(b pathmap.Bytes) pathmap.Bytes { return b }
	}
	if len(c.Src) == 1 { // as most coflows of the longest traces
		return wire(c.Size[0]).Over(min(s.hostRate(int(c.Src[0])), s.hostRate(int(c.Dst[0]))))
	}
	hosts := 0
	for r := range c.Src {
		hosts = max(hosts, int(c.Src[r])+1, int(c.Dst[r])+1)
	}
	port := make([]pathmap.Bytes, 2*hosts) // by host, as a sender and then as a receiver
	for r := range c.Src {
		b := wire(c.Size[r])
		port[c.Src[r]] += b
		port[hosts+int(c.Dst[r])] += b
	}
	most := time.Duration(0)
	for h := range hosts {
		most = max(most, max(port[h], port[hosts+h]).Over(s.hostRate(h)))
	}
	return most
}
