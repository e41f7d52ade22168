package main

import (
	"context"
	"io"

	"lightloom/cmd/lightloom/internal/experiment"
	wiring "lightloom/cmd/lightloom/internal/run"
)

// actions are what commands do once their flags are parsed and checked. Tests hand in their own; a command whose action
// is nil is not offered.
type actions struct {
	replay func(context.Context, wiring.Options) error // demo too: Options.Demo
	up     func(context.Context, wiring.Options) error
	exec   func(context.Context, wiring.ExecOptions) error
	status func(context.Context, wiring.StatusOptions) error
	doctor func(ctx context.Context, calibrate bool, stdout io.Writer) error
	// experiment runs one, its flags checked against it.
	experiment func(context.Context, *experimentFlags, experiment.Experiment) error
}
