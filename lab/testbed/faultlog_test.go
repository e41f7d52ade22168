package testbed

import (
	"strings"
	"testing"
	"time"

	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap/topo"
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
