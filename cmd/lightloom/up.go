package main

import (
	"os"

	"github.com/spf13/cobra"

	"lightloom/controller/demand"
	"lightloom/lab/scenario"
	"lightloom/lab/session"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

func newUp(a actions, argv []string) *cobra.Command {
	f := newRunFlags(argv)
	background, ready := false, false
	c := &cobra.Command{
		Use:   "up [DIR]",
		Short: "Run a fabric and its controller until Ctrl-C",
		Long: "Builds a fabric out of Linux interfaces and keeps it and its controller running. Other commands use it:\n" +
			"exec, status, jobs, submit, capture, fail and so on.\n\n" +
			"DIR is a folder with fabric.yaml, and perhaps jobs.yaml, which are submitted once the fabric is up, and\n" +
			"faults.txt, whose instants count from then on.",
		Example: "  lightloom up --fabric hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms\n" +
			"  lightloom up -d --fabric hybrid:racks=4,hosts=2\n  lightloom up my-lab",
		Args: cobra.ArbitraryArgs,
	}
	f.demand = string(demand.FromCounters) // traffic of exec is not announced
	f.common(c)
	c.Flags().StringVar(&f.opt.Fabric, "fabric", "",
		"fabric, such as hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms, or a YAML file")
	c.Flags().StringVar(&f.policies, "policy", "crosslayer+sunflow", "policy of the controller; on a pod crosslayer")
	c.Flags().StringVar(&f.opt.State, "state", "", "directory for the replicas' logs, made by lightloom cluster "+
		"init; default: logs end with the fabric")
	c.Flags().StringVar(&f.opt.Page, "page", "", "loopback address of the page for browsers; default: any free port; "+
		session.NoPage+": none")
	c.Flags().BoolVarP(&background, "detach", "d", false, "run in the background until lightloom down")
	c.Flags().BoolVar(&ready, session.ReadyFlag, false, "")
	_ = c.Flags().MarkHidden(session.ReadyFlag)
	mark(c, placeMark, "state", "detach", session.ReadyFlag)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.folder(args); err != nil {
			return err
		}
		opt, err := f.forPod(c).check(c)
		switch {
		case err != nil:
			return err
		case opt.Fabric == "":
			return usage("add --fabric hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms",
				"up: there is no fabric to build")
		case len(opt.Policies) != 1:
			return usage("write --policy crosslayer+sunflow", "up: --policy names %d policies, and a controller has one",
				len(opt.Policies))
		}
		if len(opt.Demand) > 1 {
			return usage("write --demand counters", "up: --demand names %d sources, and a controller goes by one",
				len(opt.Demand))
		}
		if err := runnable(opt.Fabric); err != nil {
			return err
		}
		opt.On = scenario.OnNetns
		if background {
			return session.Detach(argv, c.OutOrStdout(), c.ErrOrStderr())
		}
		if ready {
			opt.Ready = os.NewFile(session.ReadyFD, "ready")
		}
		return a.up(c.Context(), opt)
	}
	return c
}

// forPod chooses a policy without circuits on a pod, whose circuits are those of its slices.
func (f *runFlags) forPod(c *cobra.Command) *runFlags {
	if spec, err := topo.FromArgument(f.opt.Fabric); err == nil && spec.Pod() && !c.Flags().Changed("policy") {
		f.policies = "crosslayer"
	}
	return f
}

// folder takes fabric, jobs and faults from the folder that a command line names, if it does.
func (f *runFlags) folder(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if len(args) > 1 {
		return usage("write lightloom up DIR", "up: want one folder, got %d", len(args))
	}
	if f.opt.Fabric != "" {
		return usage("leave one of them away", "up: --fabric and the folder %q both say which fabric", args[0])
	}
	in, err := session.OpenFolder(args[0])
	f.opt.Fabric, f.opt.UpJobs, f.opt.Faults = in.Fabric, in.Jobs, in.Faults
	return hint.Wrong(err)
}
