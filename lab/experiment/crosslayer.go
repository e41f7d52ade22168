package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
)

// The evaluation of the cross-layer document (section 4): streams and batch jobs on fat-trees and
// Jellyfishes under four systems, random, routing only, application only, and both.

func crosslayerExperiments() []Experiment {
	const source = "Cross-Layer Scheduling in Cloud Computing Systems, section 4"
	both := []string{OnFlowsim, OnNetns}
	return []Experiment{
		{Name: "crosslayer-storm", Doc: "throughput of streams at 10 to 30 hosts",
			Source:    source + ".1, Figures 4 and 5",
			OnPackets: 10, On: both,
			Run: func(ctx context.Context, b *Bench) (*Result, error) { return runThroughput(ctx, b, storm()) }},
		{Name: "crosslayer-hadoop", Doc: "throughput of batch jobs at 10 to 30 hosts",
			Source:    source + ".2, Figures 7 and 8",
			OnPackets: 10, On: both,
			Run: func(ctx context.Context, b *Bench) (*Result, error) { return runThroughput(ctx, b, hadoop()) }},
		{Name: "crosslayer-axes", Doc: "how the gain in throughput at 10 and 30 hosts turns with slots, chained jobs and " +
			"longer streams", Source: source + ".1 and 4.2, Figures 4, 5, 7 and 8",
			Only: "162 runs a seed of half a minute each; crosslayer-storm and crosslayer-hadoop have packets",
			Run:  runAxes},
		{Name: "crosslayer-migration", Doc: "what moving tasks of running jobs gains, which the document leaves to later",
			Source: source + ", and section 6", OnPackets: 10, On: both, Run: runMigration},
		{Name: "crosslayer-failure", Doc: "10 % of the links fail at 500 s and come back", Source: source +
			".1 and 4.2, Figures 6 and 9", OnPackets: 10, On: both, Run: runFailure},
		{Name: "crosslayer-decision", Doc: "time to schedule a new job at 200 to 1,000 hosts", Source: source +
			".3, Figures 10 and 11", Only: SendsNothing, Alone: TimesThis, Run: runDecision},
		{Name: "crosslayer-completion", Doc: "job completion times at 1,000 hosts",
			Source: source + ".3, Figures 12 and 13",
			Only:   "one machine has no room for the packets of 1,000 hosts; crosslayer-storm and crosslayer-hadoop have 30",
			Run:    runCompletion},
	}
}

// engine is Storm or Hadoop as the document sets it.
type engine struct {
	name    string
	text    string            // of workload.ParseDrawn
	figures map[string]string // by network
	jobs    int
	packets int     // jobs of a run on packets
	speedup float64 // of a run on packets
	swim    bool    // sizes from the SWIM trace where its folder is known
	paper   map[string]float64
}

func storm() engine {
	return engine{name: "Storm", text: "storm:rate=10/min", jobs: 100, packets: 20,
		figures: map[string]string{"Fat-tree": "Figure 4",
			"Jellyfish": "Figure 5"}, speedup: 10, paper: map[string]float64{
			"Fat-tree, 10 hosts, application": 7.5, "Fat-tree, 10 hosts, routing": 9.1, "Fat-tree, 10 hosts, both": 13.0,
			"Fat-tree, 30 hosts, application": 21.1, "Fat-tree, 30 hosts, routing": 22.7, "Fat-tree, 30 hosts, both": 30.0,
			"Jellyfish, 10 hosts, application": 10.9, "Jellyfish, 10 hosts, routing": 14.5, "Jellyfish, 10 hosts, both": 18.1,
			"Jellyfish, 30 hosts, application": 21.2, "Jellyfish, 30 hosts, routing": 23.1, "Jellyfish, 30 hosts, both": 34.1,
		}}
}

func hadoop() engine {
	return engine{name: "Hadoop", text: "hadoop:rate=1/s,bytes=100B-10GB", jobs: 300,
		figures: map[string]string{"Fat-tree": "Figure 7", "Jellyfish": "Figure 8"},
		packets: 100, speedup: 20, swim: true, paper: map[string]float64{
			"Fat-tree, 10 hosts, application": 7.5, "Fat-tree, 10 hosts, routing": 9.0, "Fat-tree, 10 hosts, both": 22.3,
			"Fat-tree, 30 hosts, both":         26.0,
			"Jellyfish, 30 hosts, application": 18.8, "Jellyfish, 30 hosts, routing": 25.5, "Jellyfish, 30 hosts, both": 31.9,
		}}
}

// draw makes the jobs of one run.
func (e *engine) draw(b *Bench, n int, seed uint64) ([]controller.Job, error) {
	d, err := workload.ParseDrawn(e.text)
	if err != nil {
		return nil, err
	}
	var sizes []workload.Size
	if e.swim && b.Data != "" {
		all, err := recordsOf(b, fb2009)
		if err != nil {
			return nil, err
		}
		sizes = shuffled(all, seed)
	}
	return d.Jobs(seed, 1, n, sizes)
}

// shuffled returns the shuffles of a SWIM trace in an order drawn from the seed.
func shuffled(all []swim.Record, seed uint64) []workload.Size {
	sizes := make([]workload.Size, 0, len(all))
	for _, r := range all {
		sizes = append(sizes, workload.Size{Shuffle: r.Shuffle, Output: r.Output})
	}
	rand.New(rand.NewPCG(seed, 0x7377)).Shuffle(len(sizes),
		func(i, k int) { sizes[i], sizes[k] = sizes[k], sizes[i] })
	return sizes
}

// system is one of the four. The document's figures are held against the modes that follow it as
// printed, in each reading; our default modes have rows of their own.
type system struct {
	name, policy string
	compared     string  // the document's name of it; "": ours
	migrate      float64 // how many times its cost the move of a running task has to gain; 0: none moves
}

func (s system) String() string { return s.name }

// asPrinted is the document's whole system.
const asPrinted = "both, as printed"

// reading is how “min bandwidth in path” of Algorithm 1 is read where several pairs of tasks use a path.
// Each is named in the setting of the rows that are judged in it.
type reading struct{ name, policy string }

// readings are those of an engine. A stage of a Storm job is one task here, so that pairs of tasks have
// nothing to share and both readings are one.
func (e *engine) readings() []reading {
	if e.name == "Storm" {
		return []reading{{", in either reading", ""}}
	}
	return []reading{{", pairs of tasks do not share", ""}, {", pairs of tasks share a path", "-shared"}}
}

// defaults are random and our default modes.
func defaults() []system {
	return []system{{"random", "random+anypath", "random", 0}, {"routing", "random+anneal", "", 0},
		{"application", "application", "", 0}, {"both", "crosslayer", "", 0}}
}

// systems are those of an engine's figures.
func (e *engine) systems() []system {
	all := defaults()
	for _, r := range e.readings() {
		all = append(all, system{asPrinted + r.name, "crosslayer-paper" + r.policy, "both", 0},
			system{"routing, as printed" + r.name, "random+anneal-paper" + r.policy, "routing", 0},
			system{"application, as printed" + r.name, "application-paper" + r.policy, "application", 0})
	}
	return all
}

// whole are the systems of an engine that decide on both levels, after random.
func (e *engine) whole() []system {
	return slices.DeleteFunc(e.systems(), func(s system) bool {
		return s.name == "routing" || s.name == "application" || s.compared == "routing" ||
			s.compared == "application"
	})
}

// network is one of the document's two.
type network struct {
	name   string
	fabric func(hosts int, rate string, slots int, paths int) string
}

// networks are a fat-tree of 6-port switches, since 5-port ones cannot make one, pruned to the hosts,
// and a Jellyfish with a switch for each host and four links to others, as many as a 5-port router has
// left.
func networks() []network {
	return []network{
		{"Fat-tree", func(hosts int, rate string, slots, paths int) string {
			return fmt.Sprintf("fattree:k=6,hosts=%d,rate=%s,slots=%d,paths=%d", hosts, rate, slots, paths)
		}},
		{"Jellyfish", func(hosts int, rate string, slots, paths int) string {
			return fmt.Sprintf("jellyfish:switches=%d,degree=4,hosts=%d,rate=%s,slots=%d,paths=%d", hosts,
				hosts, rate, slots,
				paths)
		}},
	}
}

const (
	slotsEach = 4  // tasks that a server runs at once, so that a job's 12 cannot all share one
	kPaths    = 10 // of the document
	tagPaths  = 6  // that packets can name
)

func assumedCrosslayer(b *Bench) []string {
	out := []string{
		"fat-trees of 5-port routers do not exist: k = 6, pruned to the hosts; Jellyfish: a switch a host, four links to " +
			"others",
		"“100 MBps” is read as 100 MB/s (800 Mb/s), and as 100 Mb/s beside it",
		fmt.Sprintf("%d slots a server, which the document does not give: fewer spread tasks more; bytes between tasks of "+
			"one server are free, at the rate of its link", slotsEach),
		"throughput of a job: bytes received by its sinks ÷ the time it ran; of a run: the mean over jobs",
		"random: uniform slots, and paths uniform among the k shortest; ours anneals by the default mode, “as printed” by " +
			"the document's own",
		"flows share links max-min, as many TCP connections do roughly",
		"“min bandwidth in path” is read in two ways where several pairs of tasks use a path: each pair has all of it " +
			"(they do not share), or a part each (they share); a stage of a Storm job is one task, so there both are one",
	}
	if b.On == OnNetns {
		out = append(out, fmt.Sprintf("on packets, and at flow level beside them: rates and sizes divided so that two "+
			"cores carry them, and times too; fewer jobs; %d paths, as many as tags name; MB/s are of the fabric before that",
			tagPaths))
	}
	return out
}
