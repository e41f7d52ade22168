package main

import (
	"github.com/spf13/cobra"

	"lightloom/lab/scenario"
)

func newDemo(a actions, argv []string) *cobra.Command {
	f := newRunFlags(argv)
	f.scale, f.opt.Speedup = "auto", 0
	c := &cobra.Command{
		Use:   "demo",
		Short: "Compare six policies on a built-in workload and fabric",
		Long: "Builds 8 racks of 2 hosts with a packet network of two spines and an optical circuit switch out of Linux\n" +
			"interfaces, starts a replicated controller, sends real TCP bytes under each policy, and compares. It needs " +
			"neither\n" +
			"root nor Docker. Where a machine allows no namespaces it runs on the simulator and says so.\n\n" +
			"First it measures the machine for a second. It then takes scale, speedup and jobs such that no mean CCT\n" +
			"should be off by more than 10 %, and all ends within a minute. As root it runs before other programs.",
		Example: "  lightloom demo\n  lightloom demo --on flowsim --seed 2\n" +
			"  lightloom demo --workload training",
		Args: noArgs,
	}
	f.common(c)
	f.reporting(c)
	f.faults(c)
	explain(c, &f.opt.Rules)
	c.Flags().StringVar(&f.opt.On, "on", "", "testbed: netns (real packets) or flowsim (simulator); default: "+
		"netns if this machine allows it")
	c.Flags().StringVar(&f.policies, "policy", "", "policies to compare instead of the six, separated by "+
		"commas")
	c.Flags().StringVar(&f.scale, "scale", f.scale,
		"divides bytes and rates alike; auto: as this machine needs")
	c.Flags().StringVar(&f.opt.Workload, "workload", "", "training: a training job on a fabric of its own, circuits that "+
		"follow its phases beside circuits set once and packets alone")
	c.Flags().Float64Var(&f.opt.Speedup, "speedup", 0,
		"divides arrivals, sizes and compute times; 0: as this machine needs")
	c.Flags().IntVar(&f.opt.Coflows, "coflows", 0, "how many jobs; 0: as this machine needs, at most 40")
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt, err := f.check(c)
		if err != nil {
			return err
		}
		if opt.Demo = true; opt.Workload != "" {
			if err := oneOf(c, "workload", opt.Workload, scenario.TrainingDemo); err != nil {
				return err
			}
		}
		return a.replay(c.Context(), opt)
	}
	return c
}
