package main

import (
	"context"

	"lightloom/lab/replay"
	"lightloom/lab/session"
)

// commandActions returns what the binary's commands do.
func commandActions() actions {
	return actions{replay: replay.Replay, up: up, exec: session.Exec, status: session.ShowStatus,
		doctor:     diagnose,
		experiment: runExperiment}
}

// up keeps a fabric up.
func up(ctx context.Context, opt replay.Options) error {
	return session.Up(ctx, opt.Options, session.UpOptions{Ready: opt.Ready, Page: opt.Page, Jobs: opt.UpJobs},
		opt.Stdout, opt.Stderr)
}
