package main

import (
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/session"
)

func newAudit() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Find out whether a fabric is as it should be", Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newAuditCabling())
	return c
}

func newAuditCabling() *cobra.Command {
	var opt session.AuditOptions
	c := &cobra.Command{
		Use:   "cabling",
		Short: "Walk circuits and print which fibre leads where: swapped, dead and unexpected ones",
		Long: "An optical switch speaks no LLDP, but it carries it: the audit sets up circuits round by round and asks the " +
			"switches\n" +
			"behind the fibres whom they hear (openconfig-lldp, over gNMI). It takes about log2(ports) + 4 rounds, each of " +
			"--settle.\n" +
			"Without --devices it audits the fabric that `lightloom up` keeps. Circuits that stand are not touched: the audit " +
			"then\n" +
			"refuses, or with --interrupt puts them back when it is done. A switch that does not tell when it last heard a\n" +
			"neighbour needs a --settle above its announcements' time to live. Ends with status 1 if anything is not as " +
			"expected.",
		Example: "  lightloom audit cabling\n  lightloom audit cabling --fabric hybrid:racks=4,hosts=2 --devices " +
			"devices.yaml --tls-dir keys",
		Args: noArgs,
	}
	fl := c.Flags()
	fl.StringVar(&opt.Fabric, "fabric", "", "with --devices: such as hybrid:racks=4,hosts=2, or a YAML file")
	fl.StringVar(&opt.Devices, "devices", "", "inventory of switches that run elsewhere, as controller run takes it")
	fl.StringVar(&opt.Keys, "tls-dir", "", "with --devices: directory that lightloom controller keys has filled")
	fl.DurationVar(&opt.Settle, "settle", 2500*time.Millisecond,
		"how long neighbours get to hear each other in every round")
	fl.BoolVar(&opt.Interrupt, "interrupt", false, "go on although circuits stand; they are dark meanwhile")
	fl.StringVarP(&opt.Output, "output", "o", console.OutputTable, "what to print: table or json")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf(c, "output", opt.Output, console.OutputTable, console.OutputJSON); err != nil {
			return err
		}
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
