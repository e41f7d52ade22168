package main

import (
	"strings"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/lab/console"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema COMMAND…",
		Short:   "Print the JSON schema of a command's -o json",
		Example: "  lightloom schema status\n  lightloom schema topology validate",
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 || len(args) == 0 {
				return usage("write lightloom schema status", "schema: %q names no command", strings.Join(args, " "))
			}
			shape, ok := cli.ShapeOf(of)
			if !ok {
				return usage(of.CommandPath()+" -h lists its flags", "schema: %s has no -o json", of.CommandPath())
			}
			s, err := cli.SchemaOf(of.CommandPath(), shape)
			if err != nil {
				return err
			}
			return console.WriteJSON(c.OutOrStdout(), s)
		},
		ValidArgsFunction: completeCommands,
	}
}
