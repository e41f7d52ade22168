package emulated

import (
	"strings"
	"testing"
	"time"
)

// TestPatience: a wait goes on while there is progress, and longer on a busy machine, but not for ever.
func TestPatience(t *testing.T) {
	s := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for _, tc := range []struct {
		name string
		busy bool
		left func(at time.Duration) int // of 10 switches
		want time.Duration              // when it is over, to the second
	}{
		{"nothing happens", false, func(time.Duration) int { return 10 }, s(22)},
		{"nothing happens on a busy machine", true, func(time.Duration) int { return 10 }, s(88)},
		{"one switch every 15 s, and none after five", false,
			func(at time.Duration) int { return max(5, 10-int(at/s(15))) }, s(75 + 22)},
		{"one switch every 50 s on a busy machine", true,
			func(at time.Duration) int { return 10 - int(at/s(50)) }, s(330)},
		{"all switches, but no leader", false, func(time.Duration) int { return 0 }, s(22)},
		{"the count goes up again", false, func(at time.Duration) int { return 10 + int(at/s(1)) }, s(22)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPatience(10)
			for at := time.Duration(0); ; at += time.Second {
				if p.over(at, tc.left(at), tc.busy) {
					if at != tc.want {
						t.Errorf("it is over after %v, want %v", at, tc.want)
					}
					return
				}
				if at > s(1000) {
					t.Fatal("it never ends")
				}
			}
		})
	}
}

func TestCrowding(t *testing.T) {
	const head = "cpu  1000 200 300 9000 50 10 40 500 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nprocs_running 14\n"
	l := parseLoad(head)
	if l != (load{used: 20.5, stolen: 5, running: 14}) {
		t.Errorf("read as %+v", l)
	}
	for _, bad := range []string{"", "cpu", "cpu x x x x x x x x", "procs_running x"} {
		if got := parseLoad(bad); got.used != 0 || got.running != 0 {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
	c := l.since(load{used: 10.5, stolen: 1}, 5*time.Second, 14)
	c.cores = 2
	if !c.busy() || !strings.Contains(c.String(),
		"2.0 of 2 cores were busy, 0.8 of them taken by the hypervisor, and up to 14") {
		t.Errorf("busy %v: %v", c.busy(), c)
	}
	if c.used, c.stolen = 0.9, 0.1; c.busy() {
		t.Errorf("%v is called busy", c)
	}
	if c.stolen = 0.5; !c.busy() {
		t.Errorf("%v is not called busy", c)
	}
}
