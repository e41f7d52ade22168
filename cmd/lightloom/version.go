package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/lab/version"
)

// build is what version prints.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty where the program was built outside a clone
	Changed bool   `json:"changed"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func thisBuild() build {
	commit, changed := version.Commit()
	return build{version.This(), commit, changed, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// versionLine is what --version and version print.
func versionLine() string {
	b := thisBuild()
	commit := ""
	if b.Commit != "" {
		commit = " commit " + b.Commit
	}
	return fmt.Sprintf("lightloom %s%s %s %s", b.Version, commit, b.Go, b.System)
}

func newVersion() *cobra.Command {
	var output string
	c := &cobra.Command{Use: "version", Short: "Print the version", Args: noArgs,
		Example: "  lightloom version\n  lightloom version -o json"}
	outputFlag(c, &output, build{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), thisBuild())
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), versionLine())
		return err
	}
	return c
}
