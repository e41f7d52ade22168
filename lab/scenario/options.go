package scenario

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/policy"
	"lightloom/emulator/netns"
	"lightloom/lab/report"
)

// Options describe a run. They are checked as far as flags alone allow; Prepare reads the policies,
// fabrics and files that they name.
type Options struct {
	Demo bool // the built-in workload on the built-in fabric; else what the fields below name

	Trace    string           // path of a coflow-benchmark file; empty: the built-in synthetic workload
	Workload string           // "storm:…", "hadoop:…" or the path of a file of jobs, in place of a trace; empty: the trace
	Given    []controller.Job // in place of both, for this fabric; nil: none
	Fabric   string           // a spec such as "hybrid:racks=16,hosts=2", or the path of a YAML file; empty: the demo's
	On       string           // OnNetns, OnFlowsim, or OnAuto
	Policies []string         // in the order of the report's rows; empty: the demo's five
	Parts    policy.Overrides // of each policy
	Rules    Rules            // of the replay
	Faults   string           // path of a file of faults; empty: nothing fails
	Demand   []demand.Options // what circuit policies know of traffic: a row of the report for each; empty: the oracle
	// stages of the delay budget, or a preset; empty: the fabric's dark time, and what control takes
	Delays string

	Scale   float64 // divides bytes and rates; 0: auto
	Speedup float64 // divides arrivals, sizes and compute times; at least 1 unless a user wants slow motion
	Seed    uint64
	Repeat  int           // runs, under seeds from Seed on; 0 and 1: one
	Warmup  time.Duration // what arrives before it is left out of figures
	// what has not ended then is cancelled, and what arrives later never comes; 0: the run ends with the
	// last job
	Until   time.Duration
	StopAt  time.Duration // the run stops then, whatever still runs; 0: when all jobs have ended
	Coflows int           // how many, from the first; 0: all
	// record what passes packet links over time and, in runs of at most mostDecided flows, what is decided
	Record bool

	Replicas int           // of the controller; 1 to 7, odd
	State    string        // directory of the replicas' logs, for a fabric that is kept up; empty: they go with it
	Net      netns.Options // of real packets

	// Settings are all flags with their values, by name, but for those that say where results go: for the
	// manifest.
	Settings []report.Setting
}

// Where a run happens.
const (
	OnAuto    = ""        // netns where the machine allows it, else flowsim with the reason
	OnNetns   = "netns"   // real packets between namespaces, in real time
	OnFlowsim = "flowsim" // the flow-level simulator, in virtual time
)
