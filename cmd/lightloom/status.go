package main

import (
	"time"

	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newStatus(a actions) *cobra.Command {
	c := statusOf(a, session.Section{Name: "",
		Short: "Show the leader, switches, jobs and circuits of the running fabric",
		Of:    func(s *session.Status) any { return *s }})
	c.Use, c.Example = "status", "  lightloom status\n  lightloom status circuits --watch\n  lightloom status -o json"
	c.Long = "The first line says whether all is well, and what to do if not. A word after status shows one part alone. " +
		"Of\nanother controller than that of the running fabric less is known."
	c.SuggestFor = []string{"ps", "get", "ls", "list", "show", "info", "top"}
	c.Args = unknownCommand
	for _, s := range session.Sections() {
		c.AddCommand(statusOf(a, s))
	}
	return c
}

func statusOf(a actions, s session.Section) *cobra.Command {
	opt := session.StatusOptions{Section: s.Name}
	watch, every := false, time.Second
	c := &cobra.Command{Use: s.Name, Short: s.Short, Args: noArgs}
	opt.To.Add(c.Flags())
	outputFlag(c, &opt.Output, s.Of(&session.Status{}))
	c.Flags().BoolVarP(&watch, "watch", "w", false, "show it again and again until Ctrl-C")
	c.Flags().DurationVar(&every, "every", every, "with --watch: interval")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if every < 100*time.Millisecond {
			return usage("write --every 1s", "status: --every %v is below 100ms", every)
		}
		if watch {
			opt.Watch = every
		}
		opt.Stdout = c.OutOrStdout()
		return a.status(c.Context(), opt)
	}
	return c
}
