package main

import (
	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newCancel() *cobra.Command {
	var opt session.CancelOptions
	c := &cobra.Command{
		Use:   "cancel JOB",
		Short: "Cancel a job on the running fabric",
		Long: "Cancels a job, given by number or name. Its tasks free their slots and its host flows stop sending;\n" +
			"the command prints what the receivers have got. Endless streams end this way. Cancelling a job that\n" +
			"has ended changes nothing.",
		Example:           "  lightloom cancel 3\n  lightloom cancel wordcount",
		ValidArgsFunction: completeJobs,
	}
	opt.To.Add(c.Flags())
	outputFlag(c, &opt.Output, session.CancelledJob{})
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usage("write lightloom cancel 3, or the name of a job",
				"cancel: want one job, got %d", len(args))
		}
		opt.Job, opt.Stdout = args[0], c.OutOrStdout()
		return session.CancelJob(c.Context(), opt)
	}
	return c
}

func newSubmit() *cobra.Command {
	var opt session.SubmitOptions
	c := &cobra.Command{
		Use:   "submit FILE",
		Short: "Submit jobs to the running fabric",
		Long: "Submits the jobs of a YAML file, in the format of replay --workload. All of them arrive now: " +
			"arrival times in the file are ignored. A file is, for instance:\n\n" + jobFile(),
		Example: "  lightloom submit jobs.yaml\n  lightloom submit jobs.yaml --wait",
		Args:    one("file", "write lightloom submit jobs.yaml"),
	}
	opt.To.Add(c.Flags())
	outputFlag(c, &opt.Output, []session.Submitted{})
	c.Flags().BoolVar(&opt.Wait, "wait", false, "until all have ended; -o json then prints them as jobs does")
	c.RunE = func(c *cobra.Command, args []string) error {
		opt.File, opt.Stdout, opt.Stderr = args[0], c.OutOrStdout(), c.ErrOrStderr()
		return session.Submit(c.Context(), opt)
	}
	return c
}

// jobFile is a small file of jobs.
func jobFile() string {
	return "  jobs:\n" +
		"    - name: sort\n" +
		"      stages:\n" +
		"        - {name: map, tasks: 4, compute: 500ms}\n" +
		"        - {name: reduce, tasks: 2, compute: 1s}\n" +
		"      edges:\n" +
		"        - {from: map, to: reduce, bytes: 100MB}"
}
