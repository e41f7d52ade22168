package packets

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/lab/labtest"
	"lightloom/lab/testbed/emulated"
)

// TestECNRefused: if the kernel has no queue that marks, building the fabric of a run with --ecn-bytes
// fails, and the error says why and what to do.
func TestECNRefused(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	if netns.ECNSupported() == nil {
		t.Skip("this kernel marks packets: there is nothing to refuse")
	}
	s := labtest.Packets(t, 1, "random+ecmp")
	s.Options.Net.ECNBytes = 30_000
	_, err := labtest.Enter(context.Background(), s, s.Rows[0], emulated.Options{})
	var hinted interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), "sch_red") || !errors.As(err, &hinted) ||
		!strings.Contains(hinted.Hint(), "modprobe sch_red, or leave --ecn-bytes away") {
		t.Errorf("%v: want that the kernel lacks sch_red, and a hint", err)
	}
}
