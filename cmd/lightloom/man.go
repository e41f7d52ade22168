package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"lightloom/lab/version"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages of all commands",
		Example: "  lightloom man man1 && man -l man1/lightloom.1",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("write lightloom man DIR", "man: want one directory, got %d", len(args))
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true // the same program gives the same bytes
			date := version.Time()        // likewise
			head := &doc.GenManHeader{Section: "1", Source: "lightloom " + version.This(), Manual: "Lightloom", Date: &date}
			if err := doc.GenManTree(root, head, args[0]); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "wrote %s/lightloom.1 and one page a command\n", args[0])
			return err
		},
	}
}
