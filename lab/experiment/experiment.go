// Package experiment repeats the evaluations of the source documents and reports, row by row, what
// holds and what does not. An experiment is a list of runs, the figures read from them, and a verdict
// for each row. The simulator, the policies and the statistics of one run are in flowsim, policy and
// report.
//
// The unit of replication is the run, that is one seed. All systems see the same seeds, so differences
// are paired.
package experiment

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Where the runs of an experiment happen.
const (
	OnFlowsim = "flowsim" // flow level, virtual time
	OnNetns   = "netns"   // real packets, real time
)

// Why several experiments run on one fabric only.
const (
	SendsNothing = "it computes, and sends nothing"
	Beside       = "it sets packets beside the simulator, which runs, too"
)

// Why the runs of several experiments are made here, whatever engine there is.
const (
	TimesThis = "it measures how long this machine takes"
	NoRuns    = "it is one computation, without runs to share out"
)

// Experiment is one evaluation of a document.
type Experiment struct {
	Name   string // as it is typed
	Doc    string // one line
	Source string // document, section and figures
	// Seeds is the number of runs of each setting: from a pilot of five seeds, fixed before the first
	// comparison. 0: 20.
	Seeds int
	// OnPackets is how many runs of each setting are made on packets, where they take as long as they
	// take. 0: as many as Seeds.
	OnPackets int
	On        []string // fabrics it can run on; the first is the default. nil: OnFlowsim alone
	Only      string   // why it runs on one of them only; empty where it runs on both
	Alone     string   // why no engine makes its runs; empty: one can
	Loads     bool     // it is a curve over the offered load, and heeds Bench.Loads
	Run       func(ctx context.Context, b *Bench) (*Result, error)
}

// All returns the experiments in the order of the documents. Names are unique.
func All(more ...Experiment) []Experiment {
	var all []Experiment
	seen := map[string]bool{}
	for _, e := range append(list(), more...) {
		if seen[e.Name] {
			panic("experiment: two are named " + e.Name)
		}
		seen[e.Name] = true
		e.Seeds = cmp.Or(e.Seeds, 20)
		if e.On == nil {
			e.On = []string{OnFlowsim}
		}
		all = append(all, e)
	}
	return all
}

// Find returns the experiment of that name.
func Find(name string, more ...Experiment) (Experiment, error) {
	var known []string
	for _, e := range All(more...) {
		if e.Name == name {
			return e, nil
		}
		known = append(known, e.Name)
	}
	return Experiment{}, fmt.Errorf("find experiment %q: there is none; known: %s", name,
		strings.Join(known, ", "))
}
