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
		Short: "End a job of the fabric that `lightloom up` keeps, as it stands",
		Long: "Ends a job by its number or name: its tasks leave their slots, its host flows send nothing more, and what " +
			"its " +
			"sinks\n" +
			"have received is told. It is how a stream ends that goes on and on. To cancel what has ended changes nothing.",
		Example: "  lightloom cancel 3\n  lightloom cancel wordcount",
	}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "what to print: table or json")
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
		Short: "Hand jobs to the controller of the fabric that `lightloom up` keeps",
		Long: "Hands over the jobs of a YAML file, as --workload of lightloom replay reads it. They arrive now, " +
			"whatever the file says.",
		Example: "  lightloom submit jobs.yaml",
	}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "what to print: table or json")
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
