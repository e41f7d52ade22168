package main

import (
	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/session"
)

func newStatus(a actions) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the leader, switches, circuits and routes of the running fabric",
		Args:  noArgs,
	}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "output format: table or json")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf(c, "output", output, console.OutputTable, console.OutputJSON); err != nil {
			return err
		}
		return a.status(c.Context(), session.StatusOptions{Output: output, Stdout: c.OutOrStdout()})
	}
	return c
}
