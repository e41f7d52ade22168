package main

import (
	"context"

	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/session"
)

// actions are the functions that commands call once their flags are checked. Tests pass their own; a
// command whose action is nil is left out.
type actions struct {
	replay func(context.Context, replay.Options) error // demo too: Options.Demo
	up     func(context.Context, replay.Options) error
	exec   func(context.Context, session.ExecOptions) error
	status func(context.Context, session.StatusOptions) error
	doctor func(context.Context, doctorOptions) error
	// experiment runs one, its flags checked against it.
	experiment func(context.Context, *experimentFlags, experiment.Experiment) error
}

// commandActions returns what the binary's commands do.
func commandActions() actions {
	return actions{replay: replay.Replay, up: up, exec: session.Exec, status: session.ShowStatus,
		doctor:     diagnose,
		experiment: runExperiment}
}

// up keeps a fabric up.
func up(ctx context.Context, opt replay.Options) error {
	return session.Up(ctx, opt.Options, session.UpOptions{Ready: opt.Ready, Page: opt.Page, Jobs: opt.UpJobs,
		Then: opt.Then},
		opt.Stdout, opt.Stderr)
}
