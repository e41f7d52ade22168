package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
)

// circuitAt is a circuit for a job, asked for at so many seconds.
func circuitAt(seconds float64, in, out southbound.Port, job string) Decision {
	at := time.Duration(seconds * float64(time.Second))
	return Decision{At: at, Kind: DecidedCircuit, Job: job, What: Ports(in, out),
		Circuit: CircuitDecision{In: in, Out: out, Begun: at, InService: at + time.Millisecond,
			Ended:     at + time.Second,
			NotBefore: at, NotAfter: at + time.Second, Cause: "RanOut", Made: Known{Bytes: 2e6,
				Age: time.Millisecond}}}
}

// TestFork: decisions are the same where each port has the same circuits in the same order, whenever they come
// and whatever other ports do meanwhile.
func TestFork(t *testing.T) {
	placed := func(hosts string) Decision { return Decision{Kind: DecidedPlace, Job: "p", What: hosts} }
	for _, tt := range []struct {
		name string
		a, b []Decision
		on   string
		at   float64
	}{
		{"same", []Decision{placed("1 2"), circuitAt(1, 0, 1, "x")},
			[]Decision{placed("1 2"), circuitAt(1.1, 0, 1, "x")},
			"", 0},
		{"other ports, in another order", []Decision{circuitAt(1, 0, 1, "x"), circuitAt(1.1, 2, 3, "y")},
			[]Decision{circuitAt(1.2, 0, 1, "x"), circuitAt(1.1, 2, 3, "y")}, "", 0},
		{"places", []Decision{placed("1 2")}, []Decision{placed("1 3")}, "p", 0},
		{"for another", []Decision{circuitAt(1, 0, 1, "x")}, []Decision{circuitAt(1, 0, 1, "y")},
			"OCS input 0", 1},
		{"to another", []Decision{circuitAt(1, 0, 1, "x"), circuitAt(3, 0, 1, "x")},
			[]Decision{circuitAt(1, 0, 1, "x"), circuitAt(2, 0, 2, "x")}, "OCS input 0", 2},
		{"one more", []Decision{circuitAt(1, 0, 1, "x")},
			[]Decision{circuitAt(1, 0, 1, "x"), circuitAt(2, 0, 1, "x")},
			"OCS input 0", 2},
		{"the first of several", []Decision{circuitAt(1, 0, 1, "x"), circuitAt(5, 2, 3, "z")},
			[]Decision{circuitAt(2, 0, 1, "y"), circuitAt(4, 2, 3, "w")}, "OCS input 0", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, f := range []*forked{fork(tt.a, tt.b), fork(tt.b, tt.a)} {
				switch {
				case f == nil && tt.on == "":
				case f == nil || f.of != tt.on || f.at().Seconds() != tt.at:
					t.Errorf("differs at %+v, want %s at %v s", f, tt.on, tt.at)
				}
			}
		})
	}
}

// TestDifferenceTable: what is shown has both sides, and what a run does not decide is shown as nothing.
func TestDifferenceTable(t *testing.T) {
	p := &Policy{Name: "s", Coflows: []Row{{Name: "x", Arrival: 0, Took: .5},
		{Name: "y", Arrival: .9, Took: 2}}}
	last := circuitAt(.5, 0, 1, "x")
	d := findDifference([2]string{"flowsim", "netns"}, p, p,
		[2][]Decision{{last, circuitAt(1, 0, 2, "y")}, {last}})
	var b bytes.Buffer
	if err := d.Table(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the first difference is at 1.00 s, on OCS input 0",
		"circuit 0→2 for y, edge 0",
		"│ nothing", "2.00 MB, 1.00 ms old", "circuit 0→1 for x, edge 0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if s := &d.Sides[0]; s.Active != 1 || s.CCT != [2]float64{.5, 2} || s.Circuit.Took != Time(2*time.Second) {
		t.Errorf("%+v", s)
	}
}

func FuzzDecision(f *testing.F) {
	r := Summarise(Meta{}, []PolicyResult{{Name: "p",
		Decided: []Decision{{Kind: DecidedPlace, Job: "j", What: "1 2"},
			circuitAt(1, 0, 1, "x")}}})
	b, err := r.decisionsCSV()
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f.Add(strings.TrimSpace(line))
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := strings.Split(text, ",")
		if len(l) != len(decisionColumns()) {
			return
		}
		d, err := parseDecision(slices.Clone(l))
		if err != nil {
			return
		}
		again, err := (&Report{results: []PolicyResult{{Name: l[0], Decided: []Decision{d}}}}).decisionsCSV()
		if err != nil || !strings.Contains(string(again), ",") {
			t.Errorf("%+v: %v", d, err)
		}
	})
}
