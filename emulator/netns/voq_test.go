package netns_test

import (
	"errors"
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap/topo"
)

// TestVOQsRefused: what cannot have queues for dark circuits is refused before anything is built, with
// the reason and what to do instead. These tests run without root, too: then every dataplane is
// refused.
func TestVOQsRefused(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	for _, c := range []struct {
		name, fabric string
		opt          netns.Options
		want, hint   string
	}{
		{"mirred", "hybrid:racks=2,hosts=1,spines=1", netns.Options{Dataplane: netns.Mirred, VOQBytes: 1 << 20},
			"need the ebpf dataplane", "leave --voq-bytes away"},
		{"too short", "hybrid:racks=2,hosts=1,spines=1", netns.Options{VOQBytes: 1000},
			"take 131072 (two large segments) to", ""},
		{"without an optical switch", "leafspine:racks=2,hosts=1,spines=1", netns.Options{VOQBytes: 1 << 20},
			"queues for dark circuits", "leave --voq-bytes away"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := topo.ParseSpec(c.fabric)
			if err != nil {
				t.Fatal(err)
			}
			f, err := topo.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			_, err = netns.Build(f, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			var h interface{ Hint() string }
			if c.hint != "" && (!errors.As(err, &h) || !strings.Contains(h.Hint(), c.hint)) {
				t.Errorf("no hint %q", c.hint)
			}
		})
	}
}
