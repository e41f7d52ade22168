package main

import (
	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/session"
)

func newCancel() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "cancel JOB",
		Short: "Cancel a job on the running fabric",
		Long: "Cancels a job, given by number or name. Its tasks free their slots and its host flows stop sending;\n" +
			"the command prints what the receivers have got. Endless streams end this way. Cancelling a job that\n" +
			"has ended changes nothing.",
		Example: "  lightloom cancel 3\n  lightloom cancel wordcount",
	}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "output format: table or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := oneOf(c, "output", output, console.OutputTable, console.OutputJSON); err != nil {
			return err
		}
		if len(args) != 1 || args[0] == "" {
			return usage("write lightloom cancel 3, or the name of a job", "cancel: %d words where one job is due", len(args))
		}
		return session.CancelJob(c.Context(), session.CancelOptions{Job: args[0], Output: output, Stdout: c.OutOrStdout()})
	}
	return c
}

func newSubmit() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "submit FILE",
		Short: "Submit jobs to the running fabric",
		Long: "Submits the jobs of a YAML file, in the format of replay --workload. All of them arrive now: " +
			"arrival times in the file are ignored.",
		Example: "  lightloom submit jobs.yaml",
	}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "output format: table or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := oneOf(c, "output", output, console.OutputTable, console.OutputJSON); err != nil {
			return err
		}
		if len(args) != 1 {
			return usage("write lightloom submit jobs.yaml", "submit: %d words where one file is due", len(args))
		}
		return session.Submit(c.Context(), session.SubmitOptions{File: args[0], Output: output, Stdout: c.OutOrStdout(),
			Stderr: c.ErrOrStderr()})
	}
	return c
}
