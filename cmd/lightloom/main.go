// Command lightloom replays jobs over emulated hybrid fabrics under a replicated controller, keeps such
// a fabric running, and reports what a machine allows. It has one file a command.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(printError(os.Stderr, err))
}

// run runs one command line. It neither exits nor prints its own error; printError does that.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return newRoot(commandActions(), args, stdin, stdout, stderr).ExecuteContext(ctx)
}
