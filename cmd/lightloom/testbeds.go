package main

import "github.com/spf13/cobra"

// newTestbeds are the commands about a fabric that stands: what passes its ports, and what is plugged in where.
func newTestbeds() []*cobra.Command {
	return []*cobra.Command{newCapture(), newAudit(), newFibre(), newAgent(), newClab()}
}
