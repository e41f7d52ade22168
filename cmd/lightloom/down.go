package main

import (
	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newDown() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "down",
		Short:   "End the running fabric",
		Long:    "Ends the fabric of lightloom up, in this terminal or elsewhere, and waits until nothing is left behind.",
		Example: "  lightloom up -d --fabric hybrid:racks=4,hosts=2\n  lightloom down",
		Args:    noArgs,
	}
	outputFlag(c, &output, session.WentDown{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		return session.Down(c.Context(), output,
			c.OutOrStdout())
	}
	return c
}
