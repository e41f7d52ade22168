package main

import (
	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newPage() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "page",
		Short: "Print an address of the running fabric's page",
		Long: "Prints an address of the page that shows the running fabric in a browser of this machine. Each address is\n" +
			"good once; the browser that has used it is let in until the fabric goes down.",
		Example: "  lightloom page",
		Args:    noArgs,
	}
	outputFlag(c, &output, session.PageAt{})
	c.RunE = func(c *cobra.Command, _ []string) error { return session.ShowPage(output, c.OutOrStdout()) }
	return c
}
