package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/clab"
	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

func newClab() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "clab FILE.clab.yml",
		Short: "Show how the nodes of a containerlab topology would be emulated",
		Long: "A containerlab topology runs as a fabric (lightloom up or replay, --fabric file:FILE.clab.yml) if the\n" +
			"emulator has a switch for every kind in it: " + strings.Join(clab.Kinds(), ", ") + ".\n" +
			"If not, clab, up and replay name the other nodes and fail. In a fabric every packet switch speaks openconfig,\n" +
			"whatever its kind; the table shows the profile of the kind's own models, for lightloom target run --profile.",
		Example: "  lightloom clab lab.clab.yml",
		Args:    one("file", "write lightloom clab lab.clab.yml"),
	}
	outputFlag(c, &output, []clab.Node{})
	c.RunE = func(c *cobra.Command, args []string) error {
		nodes, err := clab.Read(args[0])
		if err != nil {
			return fmt.Errorf("clab: %w", hint.Wrong(err))
		}
		if output == console.OutputJSON {
			return errors.Join(console.WriteJSON(c.OutOrStdout(), nodes), clabError(nodes))
		}
		t := console.NewTable(c.OutOrStdout(), "node", "kind", "runs as")
		for _, n := range nodes {
			as := n.As
			if as == "" {
				as = "– none"
			}
			t.Row(n.Name, n.Kind, as)
		}
		return errors.Join(t.Print(), clabError(nodes))
	}
	return c
}

// clabError explains what to do about kinds that have no twin.
func clabError(nodes []clab.Node) error {
	if err := clab.Check(nodes); err != nil {
		return usage("put a kind that has one in its place ("+strings.Join(clab.Kinds(), ", ")+
			"), or drive the real one: lightloom device", "clab: %w", err)
	}
	return nil
}

// runnable refuses a fabric that is a containerlab topology with kinds that have no twin.
func runnable(fabric string) error {
	path, _, _ := strings.Cut(strings.TrimPrefix(fabric, "file:"), ",")
	if !clab.IsFile(path) {
		return nil
	}
	nodes, err := clab.Read(path)
	if err != nil {
		return err
	}
	return clabError(nodes)
}
