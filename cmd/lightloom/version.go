package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/version"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "lightloom %s %s %s/%s\n", version.This(), runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			if err != nil {
				return fmt.Errorf("print version: %w", err)
			}
			return nil
		},
	}
}
