// Package killed tests what is left of the program and goes on when a part of it is killed.
package killed

import (
	"testing"

	"lightloom/lab/labtest"
)

func TestMain(m *testing.M) { labtest.MainWithProgram(m) }
