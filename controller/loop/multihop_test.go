package loop_test

import (
	"slices"
	"strings"
	"testing"

	"lightloom/controller/loop"
	"lightloom/southbound"
)

// TestMultihopRemoved: a packet switch that was removed holds up no path.
func TestMultihopRemoved(t *testing.T) {
	s := &scenario{}
	play := func(lines string) {
		t.Helper()
		for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
			if err := s.command(strings.Fields(line)); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	play(`fabric hybrid:racks=4,hosts=1,spines=3,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=2
		found
		lead patience=1s
		step
		ok
		step
		ok
		step
		ok
		step
		drain spine2
		step
		ok
		step`)
	spine, _ := s.fabric.Topology.Named("spine2")
	c := s.state.Change()
	c.Generation++
	c.Drained, c.Removed = slices.Clone(c.Drained), []southbound.DeviceID{spine}
	s.in.Changes = append(s.in.Changes, loop.ChangeRequest{Change: &c, Refused: func(err error) { t.Fatal(err) }})
	play(`step
		lost spine2
		step
		ok
		step
		ok
		at 100ms
		step
		ok
		step
		bare one 0>1:100000
		bare two 1>2:100000
		bare three 0>2:100000
		plan place=0: place=1: place=2: route=0:1 route=1:1 route=2:1 reserve=0>1@101ms-800ms:0 reserve=1>2@101ms-500ms:1
		step
		at 101ms
		step
		ok
		step
		light 0>1
		light 1>2
		step
		ok
		step
		hush
		bare four 0>2:100000
		plan place=3: route=3:1 multihop=0>2:0>1,1>2
		step
		ok
		step`)
	text := s.take()
	for _, want := range []string{"set tor1: rack 2 circuit from 0", "steer 2/0 circuit"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}
