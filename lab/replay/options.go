package replay

import (
	"context"
	"io"
	"os"

	"lightloom/lab/scenario"
)

// Options are the options of the commands demo, replay and up.
type Options struct {
	scenario.Options
	Console
}

// Console holds where and how a command reports its results.
type Console struct {
	Output     string   // OutputTable or OutputJSON, on Stdout
	ReportDir  string   // where report.json, run.json and report.html go; empty: a fresh directory, whose name is printed
	DryRun     bool     // prepare everything, say what would run, and run nothing
	Interleave bool     // in each run policies run in an order drawn from its seed
	Ready      *os.File // written to and closed once the fabric of up is there; nil: no process waits
	Page       string   // loopback address of the page of up; empty: any free port; session.NoPage: none
	UpJobs     string   // path of jobs that up submits; empty: none
	// Then is called once the fabric of up is there; nil: nothing
	Then func(context.Context) error
	Args []string // of the process, after its name, for a re-executed child

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}
