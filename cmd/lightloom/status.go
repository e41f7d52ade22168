package main

import (
	"github.com/spf13/cobra"

	wiring "lightloom/cmd/lightloom/internal/run"
)

func newStatus(a actions) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show switches, leader, circuits and routes of the fabric that `lightloom up` keeps",
		Args:  noArgs,
	}
	c.Flags().StringVarP(&output, "output", "o", wiring.OutputTable, "what to print: table or json")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf(c, "output", output, wiring.OutputTable, wiring.OutputJSON); err != nil {
			return err
		}
		return a.status(c.Context(), wiring.StatusOptions{Output: output, Stdout: c.OutOrStdout()})
	}
	return c
}
