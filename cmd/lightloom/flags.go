package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/switches"
	"lightloom/controller/demand"
	"lightloom/emulator/fault"
	"lightloom/emulator/netns"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/topo"
)

// runFlags are the flags of the commands that run jobs or a fabric, before they are checked.
type runFlags struct {
	opt      replay.Options
	scale    string
	policies string
	against  string // the policy that the others are compared with; empty: the first
	demand   string
	period   time.Duration
	rules    ruleFlags
	warmup   string
	verbose  bool
	reads    string
	perNode  int // hosts to add at each switch of a fabric's file
}

func newRunFlags(argv []string) *runFlags {
	return &runFlags{opt: replay.Options{Options: scenario.Options{Speedup: 1},
		Console: replay.Console{Args: argv}}, scale: "1", demand: string(demand.FromOracle)}
}

// common adds the flags of every command that runs something.
func (f *runFlags) common(c *cobra.Command) {
	c.Flags().IntVar(&f.perNode, "hosts-per-node", 0, "hosts to add at each switch that has none, where --fabric is a "+
		"graph such as those of the Topology Zoo")
	c.Flags().Uint64Var(&f.opt.Seed, "seed", 1, "seed of the workload, of the policies and of random delays")
	c.Flags().StringVar(&f.opt.Net.Dataplane, "dataplane", "auto", "dataplane on netns: auto, ebpf (needs root) "+
		"or mirred")
	c.Flags().IntVar(&f.opt.Replicas, "replicas", 3, "controller replicas on netns: 1, 3, 5 or 7")
	c.Flags().StringVar(&f.opt.Net.Congestion, "congestion", "cubic", "TCP congestion control of the hosts on "+
		"netns")
	c.Flags().StringVar(&f.reads, readsFlag, readsNetwork, "how tasks read blocks of which their rack has no copy: "+
		"network, from the copy out of whose rack the fewest others read,\nor beside it, in the time that the job's model "+
		"says")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false,
		"print which flags the config file has set, and what replicas of the controller "+
			"log, on netns")
	c.Flags().IntVar(&f.opt.Net.MTU, "mtu", 1500, "MTU in bytes on netns")
	c.Flags().StringVar(&f.demand, "demand", f.demand, "what circuit policies know of traffic: oracle (all), counters "+
		"(what hosts have sent) or backlog (what\nwaits in their sockets); several, separated by commas, are a row of the "+
		"report each")
	c.Flags().DurationVar(&f.period, "demand-period", demand.DefaultPeriod, "interval at which counters or "+
		"backlog are read")
	c.Flags().IntVar(&f.opt.Net.ECNBytes, "ecn-bytes", 0, "queue length in bytes from which switch ports mark "+
		"packets (ECN) on netns, if the kernel has sch_red; 0: never")
	c.Flags().IntVar(&f.opt.Net.VOQBytes, "voq-bytes", 0, "bytes of a queue at the ToR for each rack, where packets "+
		"wait while their circuit is dark, on netns with --dataplane ebpf\n(lightloom doctor says whether it can be); 0: "+
		"there is none, and they take their backup")
	c.Flags().StringVar(&f.opt.Delays, "delays", "", "stages of the delay budget of circuits, such as "+
		"apply=exp(1ms,2ms),dark=normal(10ms,1ms),lock=2ms, in place of the fabric's\ndark=, or a preset: "+
		switches.PresetNames()+
		"; detect= is how long packet switches take to know\nof lost light; on flowsim also commit= and rpc=, what the "+
		"controller takes before, and steer=, what hosts take to be told")
	c.Flags().IntVar(&f.opt.Net.QueueBytes, "queue-bytes", 0, "queue of each switch port on netns, in bytes; 0: "+
		"by the link's rate")
	mark(c, placeMark, "verbose")
}

// reporting adds the flags of commands that write a report.
func (f *runFlags) reporting(c *cobra.Command) {
	c.Flags().BoolVarP(&f.opt.DryRun, "dry-run", "n", false, "read and check everything, print what would run, and "+
		"run nothing")
	outputFlag(c, &f.opt.Output, report.Report{})
	c.Flags().StringVar(&f.opt.ReportDir, "report-dir", "", "directory for report.json, run.json and "+
		"report.html; default: a new one")
	mark(c, placeMark, "dry-run", "output", "report-dir")
}

// faults adds the flag of a file of faults.
func (f *runFlags) faults(c *cobra.Command) {
	c.Flags().StringVar(&f.opt.Faults, "faults", "", "file of faults, one per line, such as 2s fail link "+
		"tor0-spine1; heal ends a fault")
	mark(c, inputMark, "faults")
	c.Long += "\n\n" + fault.Format
}

// jobs adds the flags that choose what is replayed, where and how.
func (f *runFlags) jobs(c *cobra.Command) {
	c.Flags().StringVar(&f.opt.Trace, "trace", "", "coflow-benchmark file, perhaps compressed by gzip, - for the "+
		"standard input, or \"synthetic\" for the demo's kind of jobs; with your own sizes,\nwidths and arrivals: "+
		"synthetic:jobs=40,bytes=8KB-100MB,width=1-4,tail=1.1,rate=10/s,arrivals=even")
	c.Flags().StringVar(&f.opt.Workload, "workload", "", "in place of a trace: storm:, hadoop: or synthetic:KEY=VALUE,… "+
		"to draw jobs, training:KEY=VALUE,… for a training job whose ranks go in step, kmeans, bayes, pagerank, ml, tpch, "+
		"tpch-tez or dag for jobs that read what others wrote, a YAML "+
		"file of jobs, a workflow in WfFormat (.json, .json.gz), or spark:FILE, the event log of a Spark application")
	c.Flags().StringVar(&f.opt.Fabric, "fabric", "",
		"such as hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms, fattree:k=6,hosts=30,rate=1Gbps, "+
			"jellyfish:switches=30,degree=4,hosts=30,rate=1Gbps or file:lab.yaml; or a YAML file")
	c.Flags().StringVar(&f.opt.On, "on", scenario.OnFlowsim, "netns (real packets, real time) or flowsim (virtual time)")
	f.faults(c)
	c.Flags().StringVar(&f.policies, "policy", "crosslayer+sunflow", "one or more, separated by commas; the first is "+
		"compared with")
	c.Flags().StringVar(&f.against, "against", "", "the policy that all are compared with: the first column of the "+
		"report, also where --policy\nnames it later or not at all; default: the first of --policy")
	c.Flags().StringVar(&f.opt.Parts.Place, "place", "", "replaces where tasks run in every policy")
	c.Flags().StringVar(&f.opt.Parts.Circuits, "circuits", "", "replaces which circuits are set up")
	c.Flags().StringVar(&f.opt.Parts.Route, "route", "", "replaces which paths flows take")
	c.Flags().StringVar(&f.opt.Parts.Share, "share", "", "replaces how fast flows send")
	c.Flags().Float64Var(&f.opt.Parts.Migrate, "migrate", 0, "let crosslayer move tasks of running jobs where that "+
		"gains more than FACTOR times its cost: bytes sent again and\ncomputing repeated; --migrate alone is --migrate=1. "+
		"Default: what runs is never moved")
	c.Flags().Lookup("migrate").NoOptDefVal = "1"
	c.Flags().DurationVar(&f.opt.Parts.EdmondsSlot, "edmonds-slot", 0, "how long a slot of edmonds lasts after its "+
		"reconfiguration delay; default: ten delays in all, or 20ms with --compat sunflow")
	c.Flags().StringVar(&f.scale, "scale", "auto", "divides bytes and rates alike, so that times stay true; auto: as "+
		"this machine needs")
	c.Flags().Float64Var(&f.opt.Speedup, "speedup", 1, "divides arrivals, sizes and compute times")
	c.Flags().IntVar(&f.opt.Coflows, "coflows", 0, "take only that many coflows, from the first; 0: all")
	c.Flags().IntVar(&f.opt.Repeat, repeatFlag, 1, "number of runs, under seeds from --seed on: policies are compared "+
		"over runs, in pairs")
	alsoSeeds(c)
	c.Flags().BoolVar(&f.opt.Interleave, "interleave", false, "within each run policies take turns in an order drawn "+
		"from its seed")
	c.Flags().DurationVar(&f.opt.Until, "until", 0, "end the run at this instant: what still runs is cancelled, and "+
		"what arrives later is left out; default: when all jobs have ended")
	c.Flags().StringVar(&f.warmup, "warmup", "0s", "leave jobs that arrive in the first so long out of all figures; "+
		"seconds, or a time such as 500ms")
	f.rules.add(c, &f.opt.Rules)
	mark(c, inputMark, "trace", "workload", "fabric")
	_ = c.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = c.RegisterFlagCompletionFunc("against", completePolicies)
	_ = c.RegisterFlagCompletionFunc("on", cobra.FixedCompletions([]string{scenario.OnFlowsim, scenario.OnNetns},
		cobra.ShellCompDirectiveNoFileComp))
	for _, question := range []string{"place", "circuits", "route", "share"} {
		_ = c.RegisterFlagCompletionFunc(question, completePart(question))
	}
}

// check turns the flags into options, or returns which one is wrong. It does not look at the machine.
func (f *runFlags) check(c *cobra.Command) (replay.Options, error) {
	o := f.opt
	if err := f.checkWords(c); err != nil {
		return o, err
	}
	o.Parts.ReadsBeside = f.reads == readsBeside
	var err error
	if o.Scale, err = parseScale(c, f.scale); err != nil {
		return o, err
	}
	if o.Policies, err = parsePolicies(c, f.policies); err != nil {
		return o, err
	}
	o.Policies = baseline(f.against, o.Policies)
	if err := f.rules.check(c, &o.Rules); err != nil {
		return o, err
	}
	if o.Fabric, err = f.fabric(c); err != nil {
		return o, err
	}
	if err := f.checkRepeat(c, &o); err != nil {
		return o, err
	}
	if o.Demand, err = parseDemand(c, f.demand, f.period); err != nil {
		return o, err
	}
	if err := checkNumbers(c, &o.Options); err != nil {
		return o, err
	}
	if err := checkNet(c, &o.Options); err != nil {
		return o, err
	}
	if f.verbose {
		os.Setenv(emulated.VerboseEnv, "1") // of the processes that are started
	}
	o.Settings = settings(c)
	o.Stdin, o.Stdout, o.Stderr = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
	return o, nil
}

// checkNumbers checks the flags of jobs and policies that take numbers and times.
func checkNumbers(c *cobra.Command, o *scenario.Options) error {
	given := c.Flags().Changed
	switch factor, slot := o.Parts.Migrate, o.Parts.EdmondsSlot; {
	case given("migrate") && !(factor > 0 && factor <= 1e6):
		return usage("write --migrate, or --migrate=2 for twice the cost; leave it away to move nothing",
			"%s: --migrate=%v is no factor above 0, up to 1000000", c.Name(), factor)
	case given("edmonds-slot") && (slot <= 0 || slot > time.Hour):
		return usage("write --edmonds-slot 20ms, or leave it away", "%s: --edmonds-slot %v is no time above zero, up to "+
			"an hour", c.Name(), slot)
	case (o.Speedup != 0 || given("speedup")) && (math.IsNaN(o.Speedup) || o.Speedup < 1e-3 || o.Speedup > 1e6):
		return usage("write --speedup 10 for a tenth of the time", "%s: --speedup %v is not within 0.001 to 1000000",
			c.Name(), o.Speedup)
	case o.Coflows < 0:
		return usage("write --coflows 100, or leave it away for all", "%s: --coflows %d is below zero", c.Name(),
			o.Coflows)
	case given("until") && o.Until <= 0:
		return usage("write --until 60s, or leave it away", "%s: --until %v is no time above zero", c.Name(), o.Until)
	case !slices.Contains([]int{1, 3, 5, 7}, o.Replicas):
		return usage("write --replicas 3", "%s: --replicas %d is none of 1, 3, 5 and 7", c.Name(), o.Replicas)
	}
	if err := scenario.CheckDelays(o.Delays); err != nil {
		return usage("write --delays dark=10ms", "%s: --delays: %w", c.Name(), err)
	}
	return nil
}

// checkNet checks the flags of real packets.
func checkNet(c *cobra.Command, o *scenario.Options) error {
	switch n := &o.Net; {
	case n.MTU < 576 || n.MTU > 9000:
		return usage("write --mtu 1500", "%s: --mtu %d is not within 576 to 9000", c.Name(), n.MTU)
	case n.ECNBytes < 0 || n.ECNBytes > 1<<30 || n.ECNBytes > 0 &&
		(n.ECNBytes < n.MTU || n.QueueBytes > 0 && n.ECNBytes >= n.QueueBytes):
		return usage("write --ecn-bytes 30000, or 0 for none", "%s: --ecn-bytes %d: take 0, or from one frame to less "+
			"than the queue", c.Name(), n.ECNBytes)
	case n.VOQBytes < 0 || n.VOQBytes > 0 && n.VOQBytes < netns.MinVOQBytes || n.VOQBytes > 1<<30:
		return usage("write --voq-bytes 1000000, or 0 for none", "%s: --voq-bytes %d: take 0, or from two segments "+
			"of 64 kB (%d) to 1073741824", c.Name(), n.VOQBytes, netns.MinVOQBytes)
	case n.VOQBytes > 0 && o.On == scenario.OnFlowsim:
		return usage("leave it away: while a circuit is dark its host flows go on over packets, or wait in their hosts",
			"%s: --voq-bytes: the simulator's switches have no queues", c.Name())
	case n.QueueBytes < 0 || n.QueueBytes > 1<<30 || n.QueueBytes > 0 && n.QueueBytes < 2*n.MTU:
		return usage("write --queue-bytes 65536, or 0 for one by the link's rate",
			"%s: --queue-bytes %d: take 0, or from two frames to 1073741824", c.Name(), n.QueueBytes)
	}
	return nil
}

// fabric returns --fabric, with the hosts that --hosts-per-node adds.
func (f *runFlags) fabric(c *cobra.Command) (string, error) {
	arg := f.opt.Fabric
	if !c.Flags().Changed("hosts-per-node") {
		return arg, nil
	}
	if !strings.HasPrefix(arg, topo.FileKind+":") {
		if _, err := topo.FormatOf(arg); err != nil || strings.Contains(arg, ":") {
			return "", usage("write --fabric graph.json --hosts-per-node 2, or hosts=2 in a spec",
				"%s: --hosts-per-node is for the file of a graph, and --fabric is %q", c.Name(), arg)
		}
		arg = topo.FileKind + ":" + arg
	}
	if f.perNode < 1 || f.perNode > topo.MaxHosts {
		return "", usage("write --hosts-per-node 1", "%s: --hosts-per-node %d is not within 1 to %d", c.Name(), f.perNode,
			topo.MaxHosts)
	}
	return fmt.Sprintf("%s,hosts=%d", arg, f.perNode), nil
}

// How tasks read blocks of other racks.
const (
	readsFlag    = "remote-reads"
	readsNetwork = "network"
	readsBeside  = "beside"
)

// checkWords checks the flags of this command that take one of a few words.
func (f *runFlags) checkWords(c *cobra.Command) error {
	for _, w := range []struct {
		flag  string
		known []string
	}{
		{"on", []string{scenario.OnNetns, scenario.OnFlowsim}},
		{"dataplane", []string{"auto", "ebpf", "mirred"}},
		{readsFlag, []string{readsNetwork, readsBeside}},
	} {
		flag := c.Flags().Lookup(w.flag)
		if flag == nil || flag.Value.String() == "" && !flag.Changed {
			continue
		}
		if err := oneOf(c, w.flag, flag.Value.String(), w.known...); err != nil {
			return err
		}
	}
	return nil
}

// parseScale reads --scale; 0 stands for auto.
func parseScale(c *cobra.Command, s string) (float64, error) {
	if s == "auto" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || v < 1e-6 || v > 1e12 {
		return 0, usage("write --scale auto, or a divisor such as --scale 10",
			"%s: --scale %q is no number from 0.000001 to 1e12", c.Name(), s)
	}
	return v, nil
}

// baseline puts the policy that the others are compared with in front; "" leaves them as they are.
func baseline(against string, policies []string) []string {
	if against = strings.TrimSpace(against); against == "" {
		return policies
	}
	return append([]string{against}, slices.DeleteFunc(policies, func(p string) bool { return p == against })...)
}

// parsePolicies splits a list of names. Package policy checks that they exist.
func parsePolicies(c *cobra.Command, s string) ([]string, error) {
	if s == "" && !c.Flags().Changed("policy") {
		return nil, nil
	}
	names := strings.Split(s, ",")
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
		switch {
		case names[i] == "":
			return nil, usage("write --policy random+ecmp,crosslayer+sunflow", "%s: --policy %q has an empty name", c.Name(), s)
		case slices.Contains(names[:i], names[i]):
			return nil, usage("name each policy once", "%s: --policy names %q twice", c.Name(), names[i])
		}
	}
	return names, nil
}

// parseDemand reads --demand, a list of sources, and --demand-period; nil for the oracle alone.
func parseDemand(c *cobra.Command, list string, period time.Duration) ([]demand.Options, error) {
	var all []demand.Options
	if period < demand.MinPeriod || period > demand.MaxPeriod {
		return nil, usage("write --demand-period 250ms", "%s: --demand-period %v is not within %v to %v", c.Name(), period,
			demand.MinPeriod, demand.MaxPeriod)
	}
	for word := range strings.SplitSeq(list, ",") {
		s := demand.Source(strings.TrimSpace(word))
		switch {
		case !slices.Contains(demand.Sources(), s):
			return nil, usage("write --demand oracle or --demand counters or --demand backlog", "%s: --demand %q is unknown",
				c.Name(), word)
		case slices.ContainsFunc(all, func(o demand.Options) bool { return o.Source == s }):
			return nil, usage("name each source once", "%s: --demand names %q twice", c.Name(), s)
		}
		all = append(all, demand.Options{Source: s, Period: period})
	}
	if len(all) == 1 && all[0].Oracle() {
		return nil, nil // whatever the period
	}
	return all, nil
}
