package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/mininet"
)

func newMininet() *cobra.Command {
	c := &cobra.Command{Use: "mininet", Short: "Use Lightloom's switches in Mininet", Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newMininetInstall(), newMininetExport())
	return c
}

func newMininetInstall() *cobra.Command {
	return &cobra.Command{
		Use:   "install [DIR]",
		Short: "Write " + mininet.Name + ", for mn --custom",
		Example: "  lightloom mininet install mininet\n  sudo mn --custom mininet/lightloom.py --topo hybrid,4,2 --switch " +
			"loom --controller loom",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("write lightloom mininet install DIR", "install: %d directories are named", len(args))
			}
			path := filepath.Join(append(args, mininet.Name)...)
			if err := install(path); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "wrote %s\ntry: sudo mn --custom %s --topo hybrid,4,2 --switch loom --controller "+
				"loom\n", path, path)
			return nil
		},
	}
}

// python is Debian's interpreter, the only one for which Mininet is installed.
const python = "/usr/bin/python3"

func newMininetExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export CUSTOM.py TOPO[,ARG…] FILE",
		Short: "Convert a custom Mininet topology to YAML",
		Long: "Loads CUSTOM.py as mn --custom does, builds TOPO, and writes it to FILE, whose name tells the format\n" +
			"(lightloom topology -h). To use it in Mininet again: mn --custom " + mininet.Name + " --topo file,FILE.",
		Example: "  lightloom mininet export mine.py mine,3 mine.yaml\n  lightloom topology show mine.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 3 {
				return usage("write lightloom mininet export mine.py mine,3 mine.yaml",
					"export: want three arguments, got %d",
					len(args))
			}
			exe, err := os.Executable()
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			cmd := exec.CommandContext(c.Context(), python, append([]string{"-", "export"}, args...)...)
			cmd.Stdin = strings.NewReader(mininet.Source())
			cmd.Env = append(os.Environ(), "LIGHTLOOM="+exe)
			out, err := cmd.CombinedOutput()
			if err != nil {
				said := strings.TrimPrefix(lastLine(string(out)), "lightloom: export: ")
				return fmt.Errorf("export %q: %w: %s", args[1], err, said)
			}
			return nil
		},
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// install writes the file, but does not overwrite one that the user has changed.
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
