package mirred_test

import (
	"testing"
	"time"

	"lightloom/emulator/dataplane/dptest"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

func TestDarkness(t *testing.T) {
	dptest.KernelDarkness(t, netns.Mirred, []time.Duration{time.Millisecond, 10 * time.Millisecond},
		dptest.Bound{Share: 0.9, Max: 200 * time.Microsecond}, netnstest.Netns)
}
