package report

import (
	"slices"
	"testing"

	"lightloom/controller"
)

// rows are lines of a comparison as text: of each its name, then every policy's value.
func rows(policies []Policy, lines []line) (out [][]string) {
	for _, l := range lines {
		row := []string{l.name}
		for i := range policies {
			row = append(row, l.of(&policies[i]))
		}
		out = append(out, row)
	}
	return out
}

// TestLines: each line shows its own figure, and a dash where a policy has none.
func TestLines(t *testing.T) {
	full := Policy{Completion: Completion{Makespan: 1, CCT: Seconds{Mean: 2, P50: 3, P95: 4},
		JCT: Seconds{Mean: 5, P50: 6,
			P95: 7}, Throughput: &Throughput{Mean: 8e6, P50: 9e6}, Deadlines: &Deadlines{Of: 4, Met: 3}, WeightedCCT: 10},
		Traffic: Traffic{BytesInter: 11e6, OCSShare: .125},
		Reconfiguration: Reconfiguration{Reconfigurations: 1234,
			ReconfigurationDelay: ReconfigurationDelay{Count: 1,
				Assumed: 13, P50: 14, P90: 99, P99: 15}, Dark: Dark{Asked: 16, Count: 1, P50: 17, P99: 18}},
		Packets: Packets{DroppedDark: 19, DroppedQueue: 99, Retransmissions: 20},
		Work: Work{Anneal: Anneal{Place: controller.MoveCounts{Evaluated: 2100, Accepted: 22},
			Route: controller.MoveCounts{Evaluated: 23, Accepted: 24}}}}
	r := &Report{Policies: []Policy{full, {}}}
	for i, tc := range []struct {
		got  []line
		want [][]string
	}{
		{r.lines(), [][]string{{"makespan, s", "1.00", "0"}, {"CCT mean, s", "2.00", "0"},
			{"CCT p50, s", "3.00", "0"},
			{"CCT p95, s", "4.00", "0"}, {"JCT mean, s", "5.00", "0"}, {"JCT p50, s", "6.00", "0"},
			{"JCT p95, s", "7.00", "0"}, {"job throughput mean, Mb/s", "8.00", "–"}, {"deadlines met",
				"3 of 4", "–"},
			{"CCT mean by weight, s", "10.0", "0"}, {"payload between racks", "11.0 MB", "0 MB"},
			{"of it over circuits", "12.5 %", "0.0 %"}, {"reconfigurations", "1,234", "0"},
			{"reconfiguration delay assumed", "13.0 µs", "–"},
			{"reconfiguration delay p50, p99", "14.0 µs, 15.0 µs", "–"}, {"dropped, dark or unmatched", "19", "0"},
			{"retransmissions", "20", "0"}}},
		{r.details(), [][]string{{"dark time asked", "16.0 µs", "–"},
			{"dark time p50, p99", "17.0 µs, 18.0 µs", "–"},
			{"placing: tried, kept", "2,100, 22", "–"}, {"routing: tried, kept", "23, 24", "–"}}},
	} {
		if got := rows(r.Policies, tc.got); !slices.EqualFunc(got, tc.want, slices.Equal) {
			t.Errorf("table %d:\n%q, want\n%q", i, got, tc.want)
		}
	}
	for _, name := range []string{"job throughput mean, Mb/s", "deadlines met", "CCT mean by weight, s"} {
		has := func(l line) bool { return l.name == name }
		if bare := (&Report{Policies: make([]Policy, 2)}).lines(); slices.ContainsFunc(bare, has) ||
			len(bare) != 14 {
			t.Errorf("no policy has %s, and %d lines", name, len(bare))
		}
	}
}

// TestBest: the one row with the least value is best, and no row is where several have it or less is
// not better.
func TestBest(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		want   int
	}{
		{nil, -1}, {[]float64{1}, -1}, {[]float64{1, 2}, 0}, {[]float64{2, 1}, 1}, {[]float64{1, 1}, -1},
		{[]float64{2, 2, 1}, 2}, {[]float64{1, 2, 1}, -1}, {[]float64{2, 1, 2}, 1}, {[]float64{2, 1, 1}, -1},
		{[]float64{3, 2, 2, 1}, 3}, {[]float64{0, 1}, 0},
	} {
		policies := make([]Policy, len(tc.values))
		for i, v := range tc.values {
			policies[i].Makespan = v
		}
		l := least("makespan", "", func(p *Policy) float64 { return p.Makespan })
		if got := best(policies, l); got != tc.want {
			t.Errorf("of %v row %d is best, want %d", tc.values, got, tc.want)
		}
		if got := best(policies, line{of: l.of}); got != -1 {
			t.Errorf("row %d has the best of a line in which less is not better", got)
		}
	}
}

// TestWordsUnderTable: at most three lines follow the table: what the verdict rests on, the caveat that
// matters most, and how many more there are. What was measured badly goes before what was divided, and
// that before losses.
func TestWordsUnderTable(t *testing.T) {
	const one = "The verdict rests on one run, seed 3"
	scaled := Workload{Scale: 2, Speedup: 2.5, BytesTotal: 1000, BytesTrace: 4000}
	const divided = "! scale 2 (bytes and rates divided), speedup 2.5 (arrivals, sizes and compute times divided): " +
		"1,000 bytes stand for 4,000"
	for _, tc := range []struct {
		name string
		r    Report
		want []string
	}{
		{"one policy", Report{Policies: []Policy{{Name: "a"}}}, []string{one + "; --repeat 10 tells more."}},
		{"nothing to mind", Report{Policies: make([]Policy, 2)}, []string{"* least of its line. " + one +
			"; --repeat 10 tells more."}},
		{"scaled", Report{Policies: make([]Policy, 1), Workload: scaled, Losses: []string{"lost"}},
			[]string{one + "; --repeat 10 tells more.", divided, "The report has 1 further remark."}},
		{"as it was", Report{Policies: make([]Policy, 1),
			Workload: Workload{Scale: 1, Speedup: 1, Fold: "folded"}},
			[]string{one + "; --repeat 10 tells more.", "! folded"}},
		{"all", Report{Policies: []Policy{{Name: "a", Notes: []string{"one", "two"}}, {Name: "b"}},
			Losses: []string{"lost"}, Notes: []string{"last"}, Workload: scaled},
			[]string{"* least of its line. " + one + "; --repeat 10 tells more.", "! a: one",
				"The report has 4 further remarks."}},
		{"seeds", Report{Policies: []Policy{mean("joint", 1), mean("b", 3), mean("c", 2)}, Seeds: []Paired{
			{Policy: "joint", Against: "b", Figure: "mean CCT", Runs: 5, Ratio: Interval{.3, .2, .4}},
			{Policy: "joint", Against: "c", Figure: "mean CCT", Runs: 5, Ratio: Interval{.5, .4, .6}}}},
			[]string{"* least of its line. " + one + ". Over 5 seeds on the simulator joint has 0.500 (0.400 to 0.600) of " +
				"the mean CCT of c."}},
	} {
		tc.r.Seed = 3
		if got := tc.r.words(); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n%q, want\n%q", tc.name, got, tc.want)
		}
	}
}

// mean is a row with that mean CCT.
func mean(name string, seconds float64) Policy {
	return Policy{Name: name, Completion: Completion{CCT: Seconds{Mean: seconds}}}
}

// TestOrDash: times are in the unit that reads best, and a dash stands for none.
func TestOrDash(t *testing.T) {
	for want, got := range map[string]string{"–": orDash(0, 5), "5.00 µs": orDash(1, 5),
		"999 µs, 1.00 ms, 1.00 s": orDash(2, 999, 1000, 1e6), "1, 0": moves(controller.MoveCounts{Evaluated: 1}),
		"10.0 GB": megabytes(int64(10e9)), "10,000 MB": megabytes(int64(10e9 - 1))} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
