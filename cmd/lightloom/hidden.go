package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lightloom/controller/server"
	"lightloom/emulator/switchd/standalone"
	"lightloom/lab/console"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
)

// guardCommand starts the guard of a switch or an agent: if that is killed, the guard restores the
// switch's interfaces and removes the socket.
const guardCommand = "switch-guard"

// guardProgram is the command line of a guard.
func guardProgram() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("run: find the guard's program: %w", err)
	}
	return []string{exe, guardCommand}, nil
}

// addHidden adds the commands that lightloom uses to start itself: the process inside new namespaces, a
// replica of the controller, and the guard of a switch or of an agent.
func addHidden(root *cobra.Command) {
	root.AddCommand(
		&cobra.Command{Use: emulated.InsideCommand, Hidden: true, Args: noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				if err := emulated.Inside(c.Context(), c.ErrOrStderr(), session.Keep); err != nil {
					return &console.ExitError{Code: statusFailed} // the parent has the error, and prints it
				}
				return nil
			}},
		&cobra.Command{Use: server.ReplicaCommand, Hidden: true, Args: noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return server.RunReplica(c.Context(), c.InOrStdin(), c.ErrOrStderr())
			}},
		&cobra.Command{Use: guardCommand, Hidden: true, Args: noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return standalone.Guard(c.InOrStdin())
			}})
}
