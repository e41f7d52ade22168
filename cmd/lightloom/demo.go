package main

import "github.com/spf13/cobra"

func newDemo(a actions, argv []string) *cobra.Command {
	f := newRunFlags(argv)
	c := &cobra.Command{
		Use:   "demo",
		Short: "Compare six policies on a built-in workload and fabric",
		Long: "Builds 8 racks of 2 hosts with a packet network of two spines and an optical circuit switch out of Linux\n" +
			"interfaces, starts a replicated controller, sends real TCP bytes under each policy, and compares. It needs " +
			"neither\n" +
			"root nor Docker. Where a machine allows no namespaces it runs on the simulator and says so.",
		Example: "  lightloom demo\n  lightloom demo --on flowsim --seed 2",
		Args:    noArgs,
	}
	f.common(c)
	f.reporting(c)
	f.faults(c)
	explain(c, &f.opt.Rules)
	c.Flags().StringVar(&f.opt.On, "on", "", "testbed: netns (real packets) or flowsim (simulator); default: "+
		"netns if this machine allows it")
	c.Flags().StringVar(&f.policies, "policy", "", "policies to compare instead of the six, separated by "+
		"commas")
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt, err := f.check(c)
		if err != nil {
			return err
		}
		opt.Demo = true
		return a.replay(c.Context(), opt)
	}
	return c
}
