package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/lab/peers"
)

// newPeers returns the command that runs other simulators' figures.
func newPeers() *cobra.Command {
	var o peers.Options
	var output string
	c := &cobra.Command{
		Use:   "peers",
		Short: "Run what other simulators give figures for, and compare",
		Long: "Runs what ASTRA-sim, RFold, coflowsim and Sunflow's simulator have given figures for, in the modes\n" +
			"that have their rules, and prints ours, theirs, the difference, and the reason. Those on the Facebook\n" +
			"trace of coflows need --data.",
		Example: "  lightloom peers\n  lightloom peers --data data",
		Args:    noArgs,
	}
	c.Flags().StringVar(&o.Data, "data", "", "folder of public traces, with coflow/FB2010-1Hr-150-0.txt")
	outputFlag(c, &output, []peers.Row{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		if console.Width(c.ErrOrStderr()) > 0 {
			o.Progress = func(what string) { fmt.Fprintln(c.ErrOrStderr(), "runs", what) }
		}
		rows, err := peers.Run(c.Context(), o)
		if err != nil {
			return fmt.Errorf("peers: %w", err)
		}
		if output == console.OutputJSON {
			e := json.NewEncoder(c.OutOrStdout())
			e.SetIndent("", "  ")
			return e.Encode(rows)
		}
		return peers.Print(c.OutOrStdout(), rows)
	}
	return c
}
