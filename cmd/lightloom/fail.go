package main

import (
	"github.com/spf13/cobra"

	"lightloom/emulator/fault"
	"lightloom/lab/session"
)

// newFail and newHeal return the commands that make parts of the running fabric fail and recover.
func newFail() *cobra.Command {
	return newBreak("fail", "Make a link, port, switch, host, controller or fibre of the running fabric fail", false)
}

func newHeal() *cobra.Command {
	c := newBreak("heal", "Restore what has failed on the running fabric", true)
	c.Use += " | all"
	c.Long += "\n\n  all         whatever has failed"
	c.Example += "\n  lightloom heal all"
	return c
}

func newBreak(verb, short string, heal bool) *cobra.Command {
	opt := session.BreakOptions{Heal: heal}
	c := &cobra.Command{
		Use:   verb + " link|port|switch|host|controller|fibre NAME",
		Short: short,
		Long: short + ". Names are those of lightloom status:\n\n" +
			"  link        tor0-spine1   both directions of a cable; either end first, ~1 after it for the second of parallel " +
			"ones\n" +
			"  port        tor0:2        one end of a cable, which darkens both of its directions\n" +
			"  switch      spine0        it forwards and answers nothing; when healed it boots, and its table is " +
			"empty\n" +
			"  host        h0-1          its tasks and transfers are void; tasks run again elsewhere\n" +
			"  controller  controller2   one replica is killed, or started again\n" +
			"  fibre       swap:0:2      fibres of two ports of the optical switch are exchanged; pull:3 unplugs those of " +
			"one; :in or :out\n" +
			"                            after it for one direction",
		Example: "  lightloom " + verb + " link tor0-spine1\n  lightloom " + verb + " host h2-0",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 && !(heal && len(args) == 1 && args[0] == healAll) {
				return usage("lightloom "+verb+" link tor0-spine1", "%s: want a kind and a name, got %d",
					verb, len(args))
			}
			return nil
		},
		ValidArgsFunction: completeFault(heal),
	}
	outputFlag(c, &opt.Output, []session.Struck{})
	c.RunE = func(c *cobra.Command, args []string) error {
		opt.Stdout = c.OutOrStdout()
		if opt.All = len(args) == 1; opt.All {
			return session.Break(c.Context(), opt)
		}
		kind, err := fault.KindNamed(args[0])
		if err != nil {
			return usage("lightloom "+verb+" link tor0-spine1", "%s: %w", verb, err)
		}
		opt.Fault = fault.Fault{Kind: kind, Name: args[1]}
		return session.Break(c.Context(), opt)
	}
	return c
}

// healAll is the word that stands for whatever has failed.
const healAll = "all"
