package main

import (
	"context"
	"io"

	"lightloom/cmd/lightloom/internal/experiment"
	"lightloom/cmd/lightloom/internal/replay"
	"lightloom/cmd/lightloom/internal/session"
)

// actions are what commands do once their flags are parsed and checked. Tests hand in their own; a command whose action
// is nil is not offered.
type actions struct {
	replay func(context.Context, replay.Options) error // demo too: Options.Demo
	up     func(context.Context, replay.Options) error
	exec   func(context.Context, session.ExecOptions) error
	status func(context.Context, session.StatusOptions) error
	doctor func(ctx context.Context, calibrate bool, stdout io.Writer) error
	// experiment runs one, its flags checked against it.
	experiment func(context.Context, *experimentFlags, experiment.Experiment) error
}
