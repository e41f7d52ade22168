// Package mixed tests controllers of labs with switches of several kinds, each a process of its own.
package mixed

import (
	"testing"

	"lightloom/lab/labtest"
)

func TestMain(m *testing.M) { labtest.MainWithProgram(m) }
