package main

import (
	"os"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/scenario"
	"lightloom/cmd/lightloom/internal/session"
	"lightloom/controller/demand"
)

func newUp(a actions, argv []string) *cobra.Command {
	f := newRunFlags(argv)
	background, ready := false, false
	c := &cobra.Command{
		Use:   "up --fabric FABRIC",
		Short: "Run a fabric and its controller until Ctrl-C",
		Long: "Builds a fabric out of Linux interfaces and keeps it and its controller running. Other commands use it:\n" +
			"exec, status, jobs, submit, capture, fail and so on.",
		Example: "  lightloom up --fabric hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms\n" +
			"  lightloom up -d --fabric hybrid:racks=4,hosts=2",
		Args: noArgs,
	}
	f.demand = string(demand.FromCounters) // traffic of exec is not announced
	f.common(c)
	c.Flags().StringVar(&f.opt.Fabric, "fabric", "",
		"fabric, such as hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms, or a YAML file")
	c.Flags().StringVar(&f.policies, "policy", "crosslayer+sunflow", "policy of the controller")
	c.Flags().StringVar(&f.opt.State, "state", "", "directory for the replicas' logs, made by lightloom cluster "+
		"init; default: logs end with the fabric")
	c.Flags().StringVar(&f.opt.Page, "page", "", "loopback address of the page for browsers; default: any free port; "+
		session.NoPage+": none")
	c.Flags().BoolVarP(&background, "detach", "d", false, "run in the background until lightloom down")
	c.Flags().BoolVar(&ready, readyFlag, false, "")
	_ = c.Flags().MarkHidden(readyFlag)
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt, err := f.check(c)
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
			return detach(argv, c.OutOrStdout(), c.ErrOrStderr())
		}
		if ready {
			opt.Ready = os.NewFile(readyFD, "ready")
		}
		return a.up(c.Context(), opt)
	}
	return c
}

// readyFlag is the hidden flag of a fabric that detach has started.
const readyFlag = "ready"
