package main

import (
	"time"

	"github.com/spf13/cobra"

	"lightloom/lab/session"
	"lightloom/lab/survey"
)

func newAudit() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Check whether a fabric is cabled as described",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newAuditCabling())
	return c
}

func newAuditCabling() *cobra.Command {
	var opt session.AuditOptions
	c := &cobra.Command{
		Use:   "cabling",
		Short: "Find swapped, dead and unexpected fibres by setting up circuits",
		Long: "Optical switches speak no LLDP, but carry it. The audit sets up circuits in rounds and asks the\n" +
			"packet switches at the fibres which neighbours they hear (openconfig-lldp, over gNMI). It takes\n" +
			"about log2(ports) + 4 rounds, each of --settle. Without --devices it audits the fabric of `lightloom\n" +
			"up`. If circuits are up, the audit refuses to run; with --interrupt it removes them and restores\n" +
			"them afterwards. On a fabric of `lightloom up` a round takes at least two seconds more than its\n" +
			"interval of LLDP: 250 ms, or a millisecond for each link and direction where that is longer. A switch\n" +
			"that does not report when it last heard a neighbour needs a --settle above its LLDP hold time. Exits\n" +
			"with status 1 if it finds anything unexpected.",
		Example: "  lightloom audit cabling\n  lightloom audit cabling --fabric hybrid:racks=4,hosts=2 --devices " +
			"devices.yaml --tls-dir keys",
		Args: noArgs,
	}
	fl := c.Flags()
	fl.StringVar(&opt.Fabric, "fabric", "", "with --devices: fabric, such as hybrid:racks=4,hosts=2, or a YAML "+
		"file")
	fl.StringVar(&opt.Devices, "devices", "", "inventory of the switches, as for controller run")
	fl.StringVar(&opt.Keys, "tls-dir", "", "with --devices: directory written by lightloom controller keys")
	fl.DurationVar(&opt.Settle, "settle", 2500*time.Millisecond,
		"time for neighbours to hear each other in each round")
	fl.BoolVar(&opt.Interrupt, "interrupt", false,
		"remove circuits that are up during the audit, and restore "+
			"them afterwards")
	outputFlag(c, &opt.Output, survey.Result{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		set := 0
		for _, v := range []string{opt.Fabric, opt.Devices, opt.Keys} {
			if v != "" {
				set++
			}
		}
		switch {
		case set != 0 && set != 3:
			return usage("write lightloom audit cabling --fabric FABRIC --devices FILE --tls-dir DIR, or none of them for the "+
				"fabric that lightloom up keeps",
				"cabling: of --fabric, --devices and --tls-dir only %d are there", set)
		case opt.Settle < time.Second || opt.Settle > time.Hour:
			return usage("write --settle 2.5s", "cabling: --settle %v is not within 1s to 1h: switches tell whole seconds",
				opt.Settle)
		}
		opt.Stdout, opt.Stderr = c.OutOrStdout(), c.ErrOrStderr()
		return session.AuditCabling(c.Context(), opt)
	}
	return c
}
