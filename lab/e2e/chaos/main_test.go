package chaos

import (
	"fmt"
	"os"
	"testing"

	"lightloom/lab/labtest"
)

func TestMain(m *testing.M) {
	if err := labtest.CollectRarely(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
