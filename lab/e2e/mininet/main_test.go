// Package mininet tests Lightloom in Mininet, which it starts in namespaces of their own.
package mininet

import (
	"testing"

	"lightloom/lab/labtest"
)

func TestMain(m *testing.M) { labtest.MainWithProgram(m) }
