package netns_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// TestRefusedBatch: answers to a batch that is refused do not take the room of the next request's.
func TestRefusedBatch(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	n := build(t, "leafspine:racks=2,hosts=2,spines=1", netns.Options{})
	refused, after := n.AfterRefused()
	if !errors.Is(refused, unix.EEXIST) {
		t.Errorf("queues were made twice: %v", refused)
	}
	if after != nil {
		t.Errorf("the next request: %v", after)
	}
}
