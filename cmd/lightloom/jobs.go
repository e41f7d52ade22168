package main

import (
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newJobs() *cobra.Command {
	var opt session.JobsOptions
	c := &cobra.Command{
		Use:   "jobs [JOB]",
		Short: "List the jobs of the running fabric, or of another controller",
		Long: "Lists every job that the controller knows, the hosts where its tasks are, how many of its coflows have\n" +
			"ended, and why it waits, if something that has failed keeps it. JOB is a number or a name.",
		Example: "  lightloom jobs\n  lightloom jobs --state running -o json\n" +
			"  lightloom jobs 3 --why\n  lightloom jobs --last 10 --context lab",
		ValidArgsFunction: completeJobs,
	}
	opt.To.Add(c.Flags())
	outputFlag(c, &opt.Output, []session.JobStatus{})
	fl := c.Flags()
	fl.BoolVar(&opt.Open, "open", false, "only jobs that have not ended")
	fl.StringSliceVar(&opt.States, "state", nil,
		"only jobs that are "+strings.Join(session.Phases(), ", ")+"; several, "+
			"separated by commas")
	fl.StringVar(&opt.User, "user", "", "only jobs of this user")
	fl.StringVar(&opt.Name, "name", "", "only jobs of this name")
	fl.BoolVar(&opt.Why, "why", false, "say why the tasks and flows of JOB went where they did, as its policy has it")
	fl.IntVar(&opt.Last, "last", 0, "only so many, the newest first; 0: all, the oldest first")
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, s := range opt.States {
			if err := oneOf(c, "state", s, session.Phases()...); err != nil {
				return err
			}
		}
		switch {
		case len(args) > 1:
			return usage("write lightloom jobs, or lightloom jobs 3", "jobs: want one job, got %d", len(args))
		case opt.Last < 0:
			return usage("write --last 10", "jobs: --last %d is below 0", opt.Last)
		case opt.Why && len(args) == 0:
			return usage("write lightloom jobs 3 --why", "jobs: --why asks about one job")
		case opt.Open && len(opt.States) > 0:
			return usage("leave one of them away", "jobs: --open and --state both say which jobs")
		case len(args) == 1:
			opt.Job = args[0]
		}
		opt.Stdout = c.OutOrStdout()
		return session.ShowJobs(c.Context(), opt)
	}
	return c
}
