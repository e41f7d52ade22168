package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lightloom/mininet"
)

func newMininet() *cobra.Command {
	c := &cobra.Command{Use: "mininet", Short: "What makes Mininet run our switches", Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newMininetInstall())
	return c
}

func newMininetInstall() *cobra.Command {
	return &cobra.Command{
		Use:     "install [DIR]",
		Short:   "Write " + mininet.Name + ", for mn --custom",
		Example: "  lightloom mininet install mininet\n  sudo mn --custom mininet/lightloom.py --topo hybrid,4,2 --switch loom --controller loom",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("write lightloom mininet install DIR", "install: %d directories are named", len(args))
			}
			path := filepath.Join(append(args, mininet.Name)...)
			if err := install(path); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "wrote %s\ntry: sudo mn --custom %s --topo hybrid,4,2 --switch loom --controller loom\n", path, path)
			return nil
		},
	}
}

// install writes the file; one that somebody has changed is not overwritten.
func install(path string) error {
	old, err := os.ReadFile(path)
	switch {
	case err == nil && string(old) == mininet.Source():
		return nil
	case err == nil:
		return usage("move it away, or name another directory", "install: %q is there and differs", path)
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("install: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if err := os.WriteFile(path, []byte(mininet.Source()), 0o644); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return nil
}
