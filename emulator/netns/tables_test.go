package netns_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/southbound"
)

// TestOwnTables: every host has a small table of connections of its own, so that listing them takes no longer on a
// machine with much memory, and the bounds of a host's listeners are those of large tables.
func TestOwnTables(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	if _, err := os.Stat("/proc/sys/net/ipv4/tcp_child_ehash_entries"); errors.Is(err, os.ErrNotExist) {
		t.Skip("this kernel gives namespaces no tables of their own (Linux 6.1 does)")
	}
	n := build(t, "leafspine:racks=2,hosts=2,spines=1", netns.Options{})
	for h := range southbound.HostID(4) {
		for knob, want := range map[string]string{
			"tcp_ehash_entries": "4096", "tcp_max_syn_backlog": "2048", "tcp_max_tw_buckets": "131072",
		} {
			var text []byte
			err := n.InHost(h, func() (err error) {
				text, err = os.ReadFile("/proc/sys/net/ipv4/" + knob)
				return err
			})
			if got := strings.TrimSpace(string(text)); err != nil || got != want {
				t.Errorf("host %d: %s is %q, %v, want %s", h, knob, got, err, want)
			}
		}
	}
}
