package replay

import (
	"io"

	"lightloom/lab/scenario"
)

// running returns a runner of a prepared scenario that prints nothing.
func running(s *scenario.Prepared) *runner {
	return &runner{Prepared: s, Console: Console{Stdout: io.Discard, Stderr: io.Discard}}
}
