package main

import (
	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/scenario"
	"lightloom/controller/demand"
)

func newUp(a actions, argv []string) *cobra.Command {
	f := newRunFlags(argv)
	c := &cobra.Command{
		Use:     "up --fabric FABRIC",
		Short:   "Run a fabric and its controller until Ctrl-C",
		Example: "  lightloom up --fabric hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms",
		Args:    noArgs,
	}
	f.demand = string(demand.FromCounters) // traffic of exec is not announced
	f.common(c)
	c.Flags().StringVar(&f.opt.Fabric, "fabric", "",
		"fabric, such as hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms, or a YAML file")
	c.Flags().StringVar(&f.policies, "policy", "crosslayer+sunflow", "policy of the controller")
	c.Flags().StringVar(&f.opt.State, "state", "", "directory for the replicas' logs, made by lightloom cluster "+
		"init; default: logs end with the fabric")
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
		return a.up(c.Context(), opt)
	}
	return c
}
