package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/controller/demand"
	"lightloom/controller/server"
	"lightloom/controller/tracing"
	"lightloom/lab/replay"
	"lightloom/lab/session"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
)

func newController() *cobra.Command {
	c := &cobra.Command{Use: "controller", Short: "Run a controller for switches of a lab or of another " +
		"emulator", Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newControllerRun(), newControllerKeys())
	return c
}

// controllerFlags are the flags of controller run, before they are checked.
type controllerFlags struct {
	opt       replay.AttachOptions
	demand    string
	period    time.Duration
	note      string // kept among the settings
	withStdin bool
}

func newControllerRun() *cobra.Command {
	var f controllerFlags
	c := &cobra.Command{
		Use:   "run --fabric FABRIC --devices FILE --tls-dir DIR",
		Short: "Run a replicated controller for switches at given gNMI addresses until Ctrl-C",
		Long: "FILE is an inventory in YAML. Its devices: are all switches of the fabric, as NAME: ADDRESS lines\n" +
			"(host:port or unix:PATH) or as a list of records with name, address, profile, tls, credentials and\n" +
			"flags; lightloom device schema prints its JSON schema. A switch without a profile must speak ocp or\n" +
			"openconfig; one without tls uses the certificates of --tls-dir. To run jobs, the inventory also\n" +
			"needs hosts: (the network namespace of every host, /proc/PID/ns/net) or agents: (the address of the\n" +
			"lightloom agent of every host). The command prints where its northbound is, for --server of other\n" +
			"commands, names every switch that is ready or is not, with the reason, and prints \"ready\" once those\n" +
			"that answer have their rules.",
		Example: "  lightloom controller run --fabric hybrid:racks=4,hosts=2 --devices devices.yaml --tls-dir keys",
		Args:    noArgs,
	}
	f.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.check(c); err != nil {
			return err
		}
		return f.run(c)
	}
	return c
}

func (f *controllerFlags) add(c *cobra.Command) {
	fl, opt := c.Flags(), &f.opt
	fl.StringVar(&opt.Fabric, "fabric", "", "fabric, such as "+
		"hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms, or a YAML file")
	fl.StringVar(&opt.Devices, "devices", "", "inventory with the addresses of switches and hosts, and the "+
		"profiles of switches")
	fl.StringVar(&opt.Keys, "tls-dir", "", "directory written by lightloom controller keys")
	fl.StringVar(&opt.Policy, "policy", "crosslayer+sunflow", "policy of the controller")
	fl.StringVar(&f.demand, "demand", string(demand.FromOracle),
		"what circuit policies know about traffic: oracle, "+
			"counters or backlog")
	fl.DurationVar(&f.period, "demand-period", demand.DefaultPeriod,
		"interval at which counters or backlog are "+
			"read")
	fl.IntVar(&opt.Replicas, "replicas", 3, "controller replicas: 1, 3, 5 or 7")
	fl.Uint64Var(&opt.Seed, "seed", 1, "seed of the policies")
	fl.StringVar(&opt.Traces, "traces", "", "send OpenTelemetry traces of jobs, from submission to each Set, to the "+
		"collector at this URL (OTLP over HTTP), such as http://127.0.0.1:4318")
	fl.StringVar(&opt.Metrics, "metrics", "", "serve Prometheus metrics at this address, without TLS on "+
		"loopback addresses only; replicas use this port and those after it")
	fl.DurationVar(&opt.SamplePeriod, "sample-period", server.DefaultSamplePeriod,
		"interval at which switches report the counters of their ports; 0: never")
	fl.DurationVar(&opt.Retention, "retention", server.DefaultRetention,
		"how long jobs and request ids are known after "+
			"their end; 0: for good")
	fl.StringVar(&opt.Page, "page", "", "loopback address of the page for browsers; default: any free port; "+
		session.NoPage+": none")
	fl.BoolVar(&f.withStdin, "with-stdin", false, "also end when standard input is closed, as it is when the "+
		"parent process ends")
	fl.BoolVar(&opt.Ephemeral, "ephemeral", false,
		"remove --tls-dir and the replicas' logs at the end: both are "+
			"for this run only")
	fl.StringVar(&opt.Lab.Switches, "lab-switches", "",
		"inventory of optical switches of the lab, through which clients wire testbeds by the API")
	fl.StringVar(&opt.Lab.Book, "leases", "leases.json", "with --lab-switches: file of leases, shared with lightloom wire")
	fl.StringVar(&opt.State, "state", "", "directory of the replicas' logs, made by lightloom cluster init; "+
		"default: replicas in --tls-dir")
	f.addJobs(c)
	mark(c, inputMark, "fabric", "trace", "workload")
	mark(c, placeMark, "report-dir", "devices", "tls-dir", "with-stdin", "ephemeral", "metrics", "state", "lab-switches",
		"leases")
}

// addJobs adds the flags of jobs to run under the controller.
func (f *controllerFlags) addJobs(c *cobra.Command) {
	fl, opt := c.Flags(), &f.opt
	fl.IntVar(&opt.Jobs, "jobs", 0, "submit this many jobs once the switches are ready, and report how they "+
		"ended")
	fl.StringVar(&opt.Trace, "trace", "", "coflow-benchmark file whose first coflows --jobs submits; default: "+
		"synthetic ones")
	fl.StringVar(&opt.Workload, "workload", "",
		"in place of a trace: what lightloom replay --workload takes, "+
			"whose first jobs --jobs submits")
	fl.Float64Var(&opt.Scale, "scale", 1, "with --jobs: divide sizes in bytes by this; the fabric's rates stay")
	fl.Float64Var(&opt.Speedup, "speedup", 1, "with --jobs: divide arrival times, sizes and compute times by "+
		"this")
	fl.StringVar(&opt.ReportDir, "report-dir", "",
		"with --jobs: directory for report.json, run.json and report.html")
	fl.StringVar(&f.note, "note", "", "what is special about the testbed: the report keeps it among its settings, "+
		"where compare finds it")
	fl.StringVar(&opt.On, "on", "elsewhere", "testbed that the report names, such as mininet")
}

// check reads the flags that are words, and returns which one is wrong. It does not look at the machine.
func (f *controllerFlags) check(c *cobra.Command) error {
	opt := &f.opt
	for _, need := range []struct{ flag, value string }{{"fabric", opt.Fabric}, {"devices", opt.Devices},
		{"tls-dir", opt.Keys}} {
		if need.value == "" {
			return usage("add --"+need.flag+"; "+c.CommandPath()+" -h says what it is",
				"run: --%s is missing", need.flag)
		}
	}
	if err := checkReplicas(opt.Replicas); err != nil {
		return err
	}
	switch known, err := parseDemand(c, f.demand, f.period); {
	case err != nil:
		return err
	case len(known) > 1:
		return usage("write --demand counters", "run: --demand names %d sources, and a controller goes by one", len(known))
	case len(known) == 1:
		opt.Demand = known[0]
	}
	switch {
	case opt.SamplePeriod != 0 && opt.SamplePeriod < server.MinSamplePeriod:
		return usage("write --sample-period 1s, or 0 for none", "run: --sample-period %v is below %v",
			opt.SamplePeriod,
			server.MinSamplePeriod)
	case opt.Retention != 0 && opt.Retention < server.MinRetention:
		return usage("write --retention 24h, or 0 for good", "run: --retention %v is below %v", opt.Retention,
			server.MinRetention)
	case opt.State != "" && opt.Ephemeral:
		return usage("leave one of them away", "run: --state keeps the replicas' logs, and --ephemeral removes them")
	}
	if err := tracing.CheckURL(opt.Traces); opt.Traces != "" && err != nil {
		return usage("write --traces http://127.0.0.1:4318", "run: %w", err)
	}
	if _, err := server.MetricsAddress(opt.Metrics, opt.Replicas-1); err != nil {
		return usage("write --metrics 127.0.0.1:9101", "run: %w", err)
	}
	return f.checkJobs()
}

func (f *controllerFlags) checkJobs() error {
	opt := &f.opt
	switch {
	case opt.Jobs < 0 || opt.Trace+opt.Workload != "" && opt.Jobs == 0:
		return usage("write --jobs 20", "run: --jobs %d: nothing is replayed", opt.Jobs)
	case opt.Trace != "" && opt.Workload != "":
		return usage("leave one of them away", "run: --trace and --workload both say what is replayed")
	case opt.ReportDir != "" && opt.Jobs == 0:
		return usage("add --jobs 20", "run: --report-dir %q: nothing is replayed that could be reported", opt.ReportDir)
	}
	for _, n := range []struct {
		flag string
		v    float64
	}{{"scale", opt.Scale}, {"speedup", opt.Speedup}} {
		if !(n.v >= 1e-6 && n.v <= 1e12) {
			return usage("write --"+n.flag+" 10", "run: --%s %v is no number from 0.000001 to 1e12", n.flag, n.v)
		}
	}
	return nil
}

// run runs the controller until the command's context ends, or with --with-stdin until standard input does.
func (f *controllerFlags) run(c *cobra.Command) (err error) {
	opt := f.opt
	opt.Args, opt.Settings = typed(c), settings(c)
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	if f.withStdin {
		go untilEOF(c.InOrStdin(), cancel)
	}
	if opt.Ephemeral {
		signal.Ignore(syscall.SIGPIPE) // who reads what this prints may be gone, and the files have still to go
		defer func() { err = errors.Join(err, os.RemoveAll(opt.Keys)) }()
	}
	opt.Stdout, opt.Stderr = c.OutOrStdout(), c.ErrOrStderr()
	return replay.Attach(ctx, opt)
}

// typed rebuilds a command line: the command's words and the flags that were set, by name.
func typed(c *cobra.Command) []string {
	words := strings.Fields(c.CommandPath())[1:]
	c.Flags().Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name+"="+f.Value.String()) })
	return words
}

func newControllerKeys() *cobra.Command {
	fabric, replicas, agents := "", 3, false
	c := &cobra.Command{
		Use:   "keys DIR --fabric FABRIC",
		Short: "Issue certificates for the switches, replicas, agents and clients of a fabric",
		Long: "Writes one file each to DIR, readable by its owner only, and authority.pem, whose holder can issue keys\n" +
			"for anybody: lightloom keys uses it to issue, renew and revoke.\n" +
			"Also founds a cluster with its logs in DIR/replicas, as lightloom cluster init does.",
		Example: "  lightloom controller keys keys --fabric hybrid:racks=4,hosts=2",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usage("write lightloom controller keys DIR --fabric FABRIC",
					"keys: %d directories are named", len(args))
			case fabric == "":
				return usage("add --fabric hybrid:racks=4,hosts=2", "keys: there is no fabric")
			}
			if err := checkReplicas(replicas); err != nil {
				return err
			}
			if err := inventory.WriteKeys(args[0], fabric, replicas, agents); err != nil {
				return err
			}
			spec, err := topo.FromArgument(fabric)
			if err != nil {
				return hint.Wrong(err)
			}
			return server.InitState(server.KeptState(args[0]), replicas, spec)
		},
	}
	c.Flags().StringVar(&fabric, "fabric", "", "fabric, such as hybrid:racks=4,hosts=2, or a YAML file")
	c.Flags().IntVar(&replicas, "replicas", replicas, "controller replicas: 1, 3, 5 or 7")
	c.Flags().BoolVar(&agents, "agents", false, "also issue certificates for the agents of all hosts, for "+
		"machines that run lightloom agent")
	return c
}

func checkReplicas(n int) error {
	if !slices.Contains([]int{1, 3, 5, 7}, n) {
		return usage("write --replicas 3", "--replicas %d is none of 1, 3, 5 and 7", n)
	}
	return nil
}
