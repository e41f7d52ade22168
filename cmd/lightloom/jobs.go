package main

import (
	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/session"
)

func newJobs() *cobra.Command {
	var opt session.JobsOptions
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs of the running fabric",
		Long: "Lists every job that was submitted, the hosts where its tasks are, how many of its coflows have ended, and\n" +
			"why it waits, if something that has failed keeps it.",
		Example: "  lightloom jobs\n  lightloom jobs --open -o json",
		Args:    noArgs,
	}
	outputFlag(c, &opt.Output, []session.JobStatus{})
	c.Flags().BoolVar(&opt.Open, "open", false, "only jobs that have not ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt.Stdout = c.OutOrStdout()
		return session.ShowJobs(c.Context(), opt)
	}
	return c
}
