package simulated_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

var update = flag.Bool("update", false, "rewrite the expected tables")

// split is a small hybrid scenario: a ring of elephants between four racks, each worth a circuit and
// alone on both its ports, and mice between all hosts, which are not. Elephants are far above the
// threshold of 9·δ·OCS = 2.25 MB, mice far below.
func split(t testing.TB, name string) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1, Policies: []string{name},
		Speedup: 1, Coflows: 1,
		On:     scenario.OnFlowsim,
		Fabric: "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms,nic=500Mbps"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Jobs = nil
	add := func(name string, at time.Duration, flows ...controller.Flow) {
		s.Jobs = append(s.Jobs, controller.Job{Name: name, Arrival: at,
			Edges: []controller.Edge{{Flows: flows}}})
	}
	for r := range southbound.HostID(4) {
		add(fmt.Sprint("elephant", r), time.Duration(r)*10*time.Millisecond,
			controller.Flow{Src: 2 * r, Dst: (2*r + 2) % 8, Bytes: 15e6})
	}
	for i := range southbound.HostID(24) {
		add(fmt.Sprint("mouse", i), max(30, time.Duration(i)*40)*time.Millisecond, // after the elephants
			controller.Flow{Src: i % 8, Dst: (i + 3) % 8, Bytes: 50_000})
	}
	return s
}

// names are the parts that answer one question, those of other simulators' rules apart, which want a
// crossbar.
func names(q policy.Question) (all []string) {
	for _, p := range policy.Parts() {
		if p.Questions[0] == q && len(p.Questions) == 1 && !p.Simulated && p.Name != "coflowsim-fair" {
			all = append(all, p.Name)
		}
	}
	return all
}

// TestHybridSplit runs every way of sharing with every circuit policy on it, both kinds of network at
// once: whatever the two are, mice stay on packets, every byte arrives, and where elephants go over
// circuits they end sooner than without. Parts that go by stages are left out: here are none. The table
// of it is docs/bench/hybrid/table.txt.
func TestHybridSplit(t *testing.T) {
	shares, parts := names(policy.Share), append([]string{"none"}, slices.DeleteFunc(names(policy.Circuits), byStages)...)
	var table strings.Builder
	fmt.Fprintf(&table, "| share \\ circuits | %s |\n|---|%s\n", strings.Join(parts, " | "),
		strings.Repeat("---|", len(parts)))
	for _, share := range shares {
		fmt.Fprintf(&table, "| %s |", share)
		var without time.Duration
		for _, part := range parts {
			name := "ecmp+" + share
			if part != "none" {
				name += "+" + part
			}
			s := split(t, name)
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			labtest.CheckOutcome(t, s, o)
			elephants, mice := kinds(o)
			fmt.Fprintf(&table, " %.2f / %.0f (%.0f %%) |", elephants.Seconds(), mice.Seconds()*1e3,
				100*float64(o.OCS)/60e6)
			if part == "none" {
				if without = elephants; o.OCS > 0 {
					t.Errorf("%s: %d bytes over circuits without a circuit policy", name, o.OCS)
				}
				continue
			}
			if elephants >= without || o.OCS < 20e6 {
				t.Errorf("%s: elephants take %v, %v without circuits; %d bytes over circuits", name,
					elephants, without, o.OCS)
			}
			most := 60e6 + bytesOfMice(o)
			if relays(part) { // what a rack keeps for another goes over two circuits
				most *= 2
			}
			if o.OCS > most {
				t.Errorf("%s: %d bytes over circuits, the elephants have 60 MB", name, o.OCS)
			}
		}
		table.WriteString("\n")
	}
	golden(t, filepath.Join(filepath.Dir(bench("hybrid")), "table.txt"), "## Mean completion times",
		table.String())
}

// byStages reports whether a part that sets up circuits, or the last one of a policy, plans them from the stages of
// jobs. By its definition it lights none for coflows of jobs without stages (controller/phases.OfJob: edges that are
// Fixed).
func byStages(name string) bool {
	part := name[strings.LastIndex(name, "+")+1:]
	return part == "phases" || part == "phases-once"
}

// TestBareCoflowsHaveNoPhases: that is so, which is why TestHybridSplit leaves these parts out.
func TestBareCoflowsHaveNoPhases(t *testing.T) {
	left := slices.DeleteFunc(names(policy.Circuits), func(part string) bool { return !byStages(part) })
	if len(left) != 2 {
		t.Errorf("parts %v, want two", left)
	}
	for _, part := range left {
		s := split(t, "ecmp+tcp+"+part)
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		labtest.CheckOutcome(t, s, o)
		if len(o.State.Moves) > 0 {
			t.Errorf("%s: %d circuits: put it into the table of TestHybridSplit", part, len(o.State.Moves))
		}
	}
}

// relays reports whether racks keep bytes for each other under a part.
func relays(part string) bool {
	return slices.ContainsFunc(policy.Parts(),
		func(p policy.PartInfo) bool { return p.Name == part && p.Relays })
}

// kinds are the mean completion times of elephants and of mice.
func kinds(o *outcome.Outcome) (elephants, mice time.Duration) {
	for i, c := range o.State.Coflows {
		if i < 4 {
			elephants += (c.Ended - c.Ready) / 4
		} else {
			mice += (c.Ended - c.Ready) / 24
		}
	}
	return elephants, mice
}

// bytesOfMice are the mice between racks that an elephant's circuit joins: one for any coflow takes
// them along.
func bytesOfMice(o *outcome.Outcome) (sum pathmap.Bytes) {
	for _, c := range o.State.Coflows[4:] {
		sum += c.Bytes
	}
	return sum
}

func bench(name string) string {
	return filepath.Join("..", "..", "..", "docs", "bench", name, "README.md")
}

// golden compares a table with the page that shows it between two blank lines after a heading; -update
// rewrites the page.
func golden(t *testing.T, page, heading, got string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(b), heading+"\n\n")
	want, rest, ok2 := strings.Cut(after, "\n\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no table below %q", page, heading)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+heading+"\n\n"+got+"\n"+rest), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !alike(want+"\n", got) {
		t.Errorf("%s says\n%s\nnow it is\n%s\nrun with -update and read the difference", page, want, got)
	}
}

// alike reports whether two tables have the same words, and numbers that differ by at most a tenth, or
// by a few, so that a change of rounding does not rewrite a page.
func alike(a, b string) bool {
	number := regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	for i := range x {
		p, err1 := strconv.ParseFloat(x[i], 64)
		q, err2 := strconv.ParseFloat(y[i], 64)
		slack := 3.0
		if strings.Contains(x[i], ".") {
			slack = 0.03
		}
		if err1 != nil || err2 != nil || math.Abs(p-q) > max(slack, 0.1*math.Abs(p)) {
			return false
		}
	}
	return true
}
