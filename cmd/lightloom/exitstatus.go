package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/controller/replica"
	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

// The exit statuses. exec returns the status of its command instead.
const (
	statusOK          = 0
	statusFailed      = 1   // the command failed
	statusUsage       = 2   // the command line says nothing that could be done
	statusDamaged     = 9   // a replica's disk holds something else than was written: starting it again does not help
	statusInterrupted = 130 // Ctrl-C or SIGTERM, after cleaning up
)

// printError prints an error and what to do about it, and returns the exit status.
func printError(w io.Writer, err error) int {
	var exit *console.ExitError
	var wrong *cli.UsageError
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &exit) && exit.Err == nil:
		return exit.Code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "lightloom: interrupted; everything is cleaned up")
		return statusInterrupted
	}
	w = console.Text(w) // the error may hold what others wrote
	fmt.Fprintf(w, "lightloom: %s\n", console.Short(err.Error()))
	if mend := hint.Of(err); mend != "" {
		fmt.Fprintf(w, "hint: %s\n", mend)
	}
	switch {
	case exit != nil:
		return exit.Code
	case errors.As(err, &wrong), hint.IsWrong(err):
		return statusUsage
	case errors.Is(err, replica.ErrDamaged):
		return statusDamaged
	}
	return statusFailed
}
