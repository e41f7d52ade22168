package main

import (
	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newExec(a actions) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "exec HOST|SWITCH [-- COMMAND [ARG…]]",
		Short: "Run a command in a host or switch of the running fabric",
		Long: "Passes on standard input, output and error, signals and the exit status. Hosts are named\n" +
			"h<rack>-<number>, also within them. They share this machine's programs and files. Without a command\n" +
			"it runs your shell; on a terminal the command gets one of its own. With --all it runs the command in\n" +
			"each host, one after the other, without a terminal; the exit status is the first that is not 0.\n" +
			"Switches share one network: in it the interface of port tor0:4 is named tor0-4.",
		Example: "  lightloom exec h0-0 -- ping -c 3 h1-0\n  lightloom exec h0-0\n  lightloom exec tor0 -- ip link\n" +
			"  lightloom exec --all -- ip -brief " +
			"address",
		ValidArgsFunction: completeNodes,
	}
	c.Flags().SetInterspersed(false)
	c.Flags().BoolVar(&all, "all", false, "run the command in all hosts")
	c.RunE = func(c *cobra.Command, args []string) error {
		const hint = "write lightloom exec h0-0 -- COMMAND"
		opt := session.ExecOptions{Stdin: c.InOrStdin(), Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()}
		if all {
			if opt.Command = args; len(args) == 0 {
				return usage("write lightloom exec --all -- COMMAND", "exec: there is no command for all hosts")
			}
			return session.ExecAll(c.Context(), opt, a.exec)
		}
		switch at := c.ArgsLenAtDash(); {
		case len(args) == 0:
			return usage(hint, "exec: there is no host")
		case at == 0:
			return usage(hint, "exec: there is no host before --")
		case at > 1:
			return usage(hint, "exec: %q stands between the host and --", args[1])
		case at < 0 && len(args) > 1 && args[1] == "--":
			args = append(args[:1:1], args[2:]...)
		}
		opt.Host, opt.Command = args[0], args[1:]
		return a.exec(c.Context(), opt)
	}
	return c
}
