package main

import "github.com/spf13/cobra"

// newTestbeds returns the commands around a fabric: capture, audit, fibre, agent and clab.
func newTestbeds() []*cobra.Command {
	return []*cobra.Command{newCapture(), newAudit(), newFibre(), newAgent(), newClab()}
}
