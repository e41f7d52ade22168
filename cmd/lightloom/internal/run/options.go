package run

import (
	"io"
	"strconv"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"

	"lightloom/cmd/lightloom/internal/report"
)

// Options are what the commands demo, replay and up ask for, checked as far as flags alone can be: names of policies,
// fabrics and files are read by the one that runs.
type Options struct {
	Demo bool // the built-in workload on the built-in fabric; else what the fields below name

	Trace    string           // path of a coflow-benchmark file; empty: the built-in synthetic workload
	Workload string           // "storm:…", "hadoop:…" or the path of a file of jobs, in place of a trace; empty: the trace
	Fabric   string           // a spec such as "hybrid:racks=16,hosts=2", or the path of a YAML file; empty: the demo's
	On       string           // OnNetns, OnFlowsim, or OnAuto
	Policies []string         // in the order of the report's rows; empty: the demo's five
	Parts    Parts            // replace parts of each policy
	Rules    Rules            // of the replay
	Faults   string           // path of a file of faults; empty: nothing fails
	Demand   []demand.Options // what circuit policies know of traffic: a row of the report for each; empty: the oracle

	Delays string // stages of the delay budget, or a preset of them; empty: the fabric's dark time, and what control takes

	Scale   float64 // divides bytes and rates; 0: auto
	Speedup float64 // divides arrivals, sizes and compute times; at least 1 unless a user wants slow motion
	Seed    uint64

	Repeat     int           // runs, under seeds from Seed on; 0 and 1: one
	Interleave bool          // in each of them policies run in an order drawn from its seed
	Warmup     time.Duration // what arrives before it is left out of figures
	Until      time.Duration // what has not ended then is cancelled, and what arrives later never comes; 0: the run ends with the last job
	Coflows    int           // the first so many; 0: all

	Dataplane  string // of netns: auto, ebpf or mirred
	Replicas   int    // of the controller; 1 to 7, odd
	Congestion string // congestion control of the hosts' sockets; empty: cubic
	MTU        int    // bytes; 0: 1500
	Queue      int    // bytes a queue holds; 0: by the link's rate
	ECN        int    // bytes in a queue from which on packets are marked; 0: none is
	DarkQueues int    // bytes of a ToR's queue for each rack, where packets wait while their circuit is dark; 0: none

	Output    string // OutputTable or OutputJSON, on Stdout
	ReportDir string // where report.json, run.json and report.html go; empty: a fresh directory, whose name is printed

	// Settings are all flags with their values, by name, but for those that say where results go: for the manifest.
	Settings []report.Setting
	given    []controller.Job         // of a Case
	with     func() controller.Policy // of a Case
	until    time.Duration            // of a Case

	Args           []string // of the process, after its name: what a re-executed child needs to know
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Parts name parts that replace those of a composed policy; empty keeps the policy's own.
type Parts struct {
	Place, Light, Route, Share string

	Migrate float64 // tasks of running jobs are moved where that gains more than so many times its cost; 0: never
}

// Where a run happens.
const (
	OnAuto    = ""        // netns where the machine allows it, else flowsim with the reason
	OnNetns   = "netns"   // real packets between namespaces, in real time
	OnFlowsim = "flowsim" // the flow-level simulator, in virtual time
)

// How a result is printed.
const (
	OutputTable = "table"
	OutputJSON  = "json"
)

// ExecOptions are what the command exec asks for.
type ExecOptions struct {
	Host    string   // a name such as h3-1
	Command []string // at least one word

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// StatusOptions are what the command status asks for.
type StatusOptions struct {
	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// ExitError says with which status the process is to end; a command run in a host hands its own on.
type ExitError struct {
	Code int
	Err  error // nil: say nothing, the command has spoken for itself
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return "command ended with status " + strconv.Itoa(e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }
