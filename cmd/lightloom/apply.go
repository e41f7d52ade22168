package main

import (
	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newApply() *cobra.Command {
	var opt session.ApplyOptions
	c := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Change the running fabric to what a file describes",
		Long: "FILE is YAML: policy names the policy that decides from now on, drain lists all switches and hosts that\n" +
			"are to get no new tasks, routes or circuits, remove lists those of them that are not there, devices and\n" +
			"groups are records as in an inventory, of switches in the place of those of the same names, links are\n" +
			"cables that lead elsewhere from now on, racks are switches with their hosts that are added, with agents and\n" +
			"addresses of the hosts. What the file does not name stays as it is. Jobs go on. What would\n" +
			"cut a circuit, reserved bandwidth or racks is refused with the reason, as is a switch that does not answer\n" +
			"or lacks ports. An optical switch with circuits is drained first. Only admins replace switches and add racks.",
		Example: "  lightloom apply -f change.yaml --dry-run\n  lightloom apply -f change.yaml",
		Args:    noArgs,
	}
	to := reachFlags(c)
	outputFlag(c, &opt.Output, session.ApplyReply{})
	c.Flags().StringVarP(&opt.File, "file", "f", "", "YAML file that describes the fabric")
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "say what would change, and change nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if opt.File == "" {
			return usage("write lightloom apply -f change.yaml", "apply: there is no file")
		}
		opt.To, opt.Stdout = *to, c.OutOrStdout()
		return session.Apply(c.Context(), opt)
	}
	return c
}
