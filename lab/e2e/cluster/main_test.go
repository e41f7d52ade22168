// Package cluster tests replicas as services of machines of their own: their commands, their keys, and
// what befalls them.
package cluster

import (
	"os"
	"testing"

	"lightloom/lab/labtest"
)

// TestMain lets the test binary be a replica that can be stopped.
func TestMain(m *testing.M) {
	if os.Getenv(stopsEnv) != "" {
		runStoppable()
	}
	labtest.MainWithProgram(m)
}
