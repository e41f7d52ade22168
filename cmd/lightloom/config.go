package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/config"
	"lightloom/southbound/hint"
)

// configFlag adds --config to all commands, and has each command begin with the user's own defaults.
// Commands that have a file of their own under that name take them from the usual place. --verbose
// prints them.
func configFlag(root *cobra.Command) {
	path := root.PersistentFlags().String("config", "",
		"file with your own defaults of flags, or off (default "+
			"lightloom/config.yaml in your configuration directory)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if c.Hidden || *path == config.Off {
			return nil
		}
		from, named := *path, *path != ""
		if !named {
			at, err := config.Path()
			if err != nil {
				return nil //nolint:nilerr // a user without a home has no defaults
			}
			from = at
		}
		given, err := config.Apply(c, from, named)
		if err != nil {
			return usage(hint.Of(err), "%w", err)
		}
		if f := c.Flags().Lookup("verbose"); f != nil && f.Value.String() == "true" {
			for _, g := range given {
				fmt.Fprintf(c.ErrOrStderr(), "%s: --%s %s\n", from, g.Flag, g.Value)
			}
		}
		return nil
	}
}
