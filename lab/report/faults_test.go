package report

import (
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// faulty is a run with a link that was healed, a switch that was not, and one fault that changed no table.
func faulty() *PolicyResult {
	return &PolicyResult{Name: "p", Faults: []FaultInterval{
		{Kind: "switch", Name: "s1", From: 2 * time.Second, To: 8 * time.Second, Lasts: true, WasRerouted: true,
			Rerouted: 30 * time.Millisecond},
		{Kind: "link", Name: "b", From: time.Second, To: 3 * time.Second, WasRerouted: true,
			Rerouted:    20 * time.Millisecond,
			WasRestored: true, Restored: 1500 * time.Microsecond},
		{Kind: "link", Name: "a", From: 4 * time.Second, To: 5 * time.Second}},
		Received: []Received{{0, 2 * time.Second, 1_000_000}, {2 * time.Second, 4 * time.Second, 500_000}}}
}

// TestFaultRows: a row has when a fault began and ended, and how soon tables were changed, where they were.
func TestFaultRows(t *testing.T) {
	ms := func(x float64) *float64 { return &x }
	want := []FaultRow{
		{Kind: "switch", Name: "s1", From: 2, To: 8, Lasts: true, Rerouted: ms(30)},
		{Kind: "link", Name: "b", From: 1, To: 3, Rerouted: ms(20), Restored: ms(1.5)},
		{Kind: "link", Name: "a", From: 4, To: 5}}
	if got := faultRows(faulty()); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := receivedRows(faulty()); !reflect.DeepEqual(got, []ReceivedRow{{0, 4e6}, {2, 2e6}}) {
		t.Errorf("received %+v", got)
	}
	if got := (&Received{Bytes: 1}).rate(); math.Abs(got-8e9) > 1 {
		t.Errorf("a byte at once is %v bit/s, want that of a nanosecond", got)
	}
}

// TestFaultWords: the line counts faults and says how late the slowest change of tables was.
func TestFaultWords(t *testing.T) {
	p := faulty()
	want := "3 faults; for 2 of them tables were changed, at the latest 30ms after the fault."
	if got := faultWords(p); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Faults = p.Faults[2:]
	if got, want := faultWords(p), "1 faults; no table had to be changed for them."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i, want := range []string{"switch s1 failed at 2s, tables changed within 30ms, never healed",
		"link b failed at 1s, tables changed within 20ms, healed at 3s, tables changed within 1.5ms",
		"link a failed at 4s, healed at 5s"} {
		if got := faulty().Faults[i].title(); got != want {
			t.Errorf("fault %d: %q, want %q", i, got, want)
		}
	}
}

// TestFaultPicture: each failed part has a lane, links first, its bars lie where it had failed, and the
// line of bytes is as high as the most that was received.
func TestFaultPicture(t *testing.T) {
	svg := faultPicture(faulty(), 8*time.Second)
	if *update {
		if err := os.WriteFile("testdata/faults.svg", []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/faults.svg")
	if err != nil || svg != string(want) {
		t.Errorf("%v: drawn\n%s\nwas\n%s", err, svg, want)
	}
	if a, b := strings.Index(svg, "link a"), strings.Index(svg, "switch s1"); a < 0 || b < a {
		t.Errorf("lanes begin at %d and %d", a, b)
	}
	quiet := faulty()
	quiet.Received = nil
	if strings.Contains(faultPicture(quiet, 8*time.Second), "curve") {
		t.Error("nothing was received, and a line is drawn")
	}
}

// TestFaultLanes: each failed part has one lane; lanes are in the order of kinds, then of names.
func TestFaultLanes(t *testing.T) {
	var faults []FaultInterval
	for _, part := range []string{"controller 0", "host a", "switch a", "port b", "link b", "host a",
		"port a", "link a",
		"link b"} {
		kind, name, _ := strings.Cut(part, " ")
		faults = append(faults, FaultInterval{Kind: kind, Name: name})
	}
	var got []string
	for _, f := range lanes(faults) {
		got = append(got, f.Kind+" "+f.Name)
	}
	want := []string{"link a", "link b", "port a", "port b", "switch a", "host a", "controller 0"}
	if !slices.Equal(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
	if faults[0].Kind != "controller" {
		t.Error("the faults themselves were sorted")
	}
}

// TestFaultBars: a bar lies in the lane of its own part, is a unit wide at least, and ends where the
// picture does.
func TestFaultBars(t *testing.T) {
	p := &PolicyResult{Name: "<p>", Received: []Received{{0, time.Second, 0}}, Faults: []FaultInterval{
		{Kind: "link", Name: "a", From: 5 * time.Second, To: 5 * time.Second},
		{Kind: "link", Name: "a", From: 8 * time.Second, To: 20 * time.Second, Lasts: true},
		{Kind: "host", Name: "a", From: 0, To: time.Second}}}
	svg := faultPicture(p, 10*time.Second)
	var got []string
	for _, m := range regexp.MustCompile(`<rect class="fault" ([^>]*)>`).FindAllStringSubmatch(svg, -1) {
		got = append(got, m[1])
	}
	want := []string{`x="627" y="10" width="1" height="14"`, `x="913.2" y="10" width="190.8" height="14"`,
		`x="150" y="28" width="95.4" height="14"`}
	if !slices.Equal(got, want) {
		t.Errorf("bars %q, want %q", got, want)
	}
	if !strings.Contains(svg, "Faults and throughput under &lt;p&gt;") || strings.Contains(svg, "curve") {
		t.Errorf("a title as it is, or a line of no bytes:\n%s", svg)
	}
	if n := strings.Count(faultPicture(&PolicyResult{}, 0), `text-anchor="middle" x="150" y="158">0s<`); n != 1 {
		t.Errorf("a run of no time has %d ticks at its begin, want 1", n)
	}
}

// TestFaultRounding: instants and durations are shown to the microsecond, and the slowest change is not
// the last one.
func TestFaultRounding(t *testing.T) {
	f := FaultInterval{Kind: "port", Name: "p", From: 1500, To: 9499, WasRerouted: true,
		Rerouted: 2500, WasRestored: true,
		Restored: 3499}
	want := "port p failed at 2µs, tables changed within 3µs, healed at 9µs, tables changed within 3µs"
	if got := f.title(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.Lasts = true
	if got, want := f.title(), "port p failed at 2µs, tables changed within 3µs, never healed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p := &PolicyResult{Faults: []FaultInterval{{WasRerouted: true, Rerouted: 1000},
		{WasRerouted: true, Rerouted: 4500},
		{WasRerouted: true, Rerouted: 2000}, {Rerouted: 9000}}}
	want = "4 faults; for 3 of them tables were changed, at the latest 5µs after the fault."
	if got := faultWords(p); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := *milliseconds(1_234_567); got != 1.234567 {
		t.Errorf("1234567 ns are %v ms", got)
	}
}
