package replay

import (
	"io"

	"lightloom/cmd/lightloom/internal/scenario"
)

// Options are what the commands demo, replay and up ask for.
type Options struct {
	scenario.Options
	Console
}

// Console is how a command tells what came of a run.
type Console struct {
	Output     string   // OutputTable or OutputJSON, on Stdout
	ReportDir  string   // where report.json, run.json and report.html go; empty: a fresh directory, whose name is printed
	Interleave bool     // in each run policies run in an order drawn from its seed
	Args       []string // of the process, after its name: what a re-executed child needs to know

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}
