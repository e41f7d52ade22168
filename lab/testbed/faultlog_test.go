package testbed

import (
	"strings"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestLateFault: a fault that was to come after the run's end is noted.
func TestLateFault(t *testing.T) {
	spec, err := topo.ParseSpec("leafspine:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	link := fault.Fault{Kind: fault.Link, Name: "tor0-spine0"}
	s := &scenario.Scenario{Faults: []fault.Event{{At: time.Second, Fault: link},
		{At: time.Minute, Fault: link, Heal: true}}}
	o := &outcome.Outcome{}
	NewFaultLog(f, 1).into(o, s, 2*time.Second)
	if len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "1m0s heal link tor0-spine0: this did not happen") {
		t.Errorf("%q", o.Notes)
	}
}

// TestCircuitsAreNoTables: rules of any circuit of a pod are no change of the tables for packets.
func TestCircuitsAreNoTables(t *testing.T) {
	spec, err := topo.ParseSpec("pod:cubes=2,side=2,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	l := NewFaultLog(f, 1)
	tags := southbound.CircuitTags(f)
	for _, tag := range append(tags, southbound.PathTag(0)) {
		match := southbound.Match{Dst: 1, Tag: tag, Src: southbound.AnyRack}
		l.Applied(time.Second, device.Applied{Set: []southbound.Rule{{Match: match}}})
	}
	if n, _ := l.TablesSince(0); n != 1 || len(tags) < 2 {
		t.Errorf("%d tables changed by %d circuits and a path", n, len(tags))
	}
}
