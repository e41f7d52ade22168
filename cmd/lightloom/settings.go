package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/lab/report"
	"lightloom/lab/session"
)

// resultFlags name the flags that choose how and where results are shown. They do not change results, so no manifest
// holds them.
func resultFlags() []string {
	return []string{"help", "output", "report-dir", "per-coflow", "per-circuit", "per-queue", "per-reservation",
		"per-host-flow", "explain", "detach", session.ReadyFlag, "dry-run", "verbose", "config",
		"devices", "tls-dir", "with-stdin", "ephemeral", "metrics", "state"} // of controller run: where the testbed is
}

// settings are all flags of a command with their values, given or not, by name.
func settings(c *cobra.Command) []report.Setting {
	var out []report.Setting
	c.Flags().VisitAll(func(f *pflag.Flag) { // by name
		if slices.Contains(resultFlags(), f.Name) {
			return
		}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range many.GetSlice() {
				out = append(out, report.Setting{Flag: f.Name, Value: v})
			}
			return
		}
		out = append(out, report.Setting{Flag: f.Name, Value: f.Value.String()})
	})
	return out
}
