package experiment

import (
	"strings"
	"testing"
)

// row is a figure with its interval; no document where paper is below -1000.
func row(paper, measured, low, high float64) Row {
	r := Row{Measured: Number(measured), Low: Number(low), High: Number(high), N: 20}
	if paper > -1000 {
		r.Paper = Number(paper)
	}
	return r
}

const nothing = -1e6

// TestJudge holds the rules of sizes; most rows are figures that were judged otherwise once.
func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		row    Row
		margin float64
		want   Verdict
	}{
		{"within a quarter", row(30, 29, 27, 31), 0, Reproduced},
		{"outside", row(30, 86, 80, 92), 0, Differs},
		{"outside, better for us", row(30, 5, 4, 6), 0, Differs},
		{"the other sign", row(26, -22, -24, -20), 0, Differs},
		{"a wide interval is not rewarded", row(26, 26, 5, 47), 0, TooWeak},
		{"partly inside", row(30, 36, 34, 39), 0, TooWeak},
		{"no figure in the document", row(nothing, 3, 2, 4), 0, NoClaim},
		{"nothing measured", Row{Paper: Number(1)}, 0, NotReproducible},
		{"recovery of streams: margin 2, document 2", row(2, 1.6, 0.9, 2.3), 2, NoTest},
		{"recovery of batch jobs: margin 2, document 1.5", row(1.5, 0.1, 0, 0.4), 2, NoTest},
		{"recovery of batch jobs by the rule", row(1.5, 0.1, 0, 0.4), 0, Differs},
		{"a document's zero", row(0, 0, 0, 0), 0, NoTest},
		{"a loss as large as the document's", row(-20, -21, -22, -19), 0, Reproduced},
		{"Co-scheduler's makespan at ×1", row(56, 0.025, 0.007, 0.048), 0, Differs},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.row.Judge(tc.margin, "because"); got.Verdict != tc.want {
				t.Errorf("%q (%s), want %q", got.Verdict, got.Note, tc.want)
			}
		})
	}
}

// TestJudgeFew: four runs say nothing of a size or a trend.
func TestJudgeFew(t *testing.T) {
	r := row(30, 29, 27, 31)
	if rise := r.JudgeRise(false); rise.Verdict != Reproduced || r.JudgeRise(true).Verdict != Differs {
		t.Errorf("%+v", rise)
	}
	r.N = leastRuns - 1
	if size, rise := r.Judge(0, "because"), r.JudgeRise(false); size.Verdict != TooWeak ||
		rise.Verdict != TooWeak {
		t.Errorf("%q (%s), %q (%s)", size.Verdict, size.Note, rise.Verdict, rise.Note)
	}
}

// TestJudgeExact: where nothing is random, one run decides, and no interval is claimed.
func TestJudgeExact(t *testing.T) {
	for measured, want := range map[float64]Verdict{201.2: Reproduced, 201.6: Reproduced,
		202: Differs, 190: Differs} {
		r := Row{Paper: Number(201), Measured: Number(measured), Low: Number(measured),
			High: Number(measured), N: 1}
		if r = r.JudgeExact(0.601, "because"); r.Verdict != want || r.Low != nil || r.High != nil ||
			!strings.HasPrefix(r.Note, "deterministic") {
			t.Errorf("201 in the document and %g here: %+v, want %q", measured, r, want)
		}
	}
	if r := (Row{Paper: Number(1)}).JudgeExact(1, "because"); r.Verdict != NotReproducible {
		t.Errorf("nothing measured: %+v", r)
	}
}

// TestJudgeAtMost: a bound on the worst job says nothing at a load where hardly any job gets worse.
func TestJudgeAtMost(t *testing.T) {
	rare, often := row(27, 0.6, 0.3, 0.8), row(24, 20, 15, 25)
	for _, tc := range []struct {
		name  string
		row   Row
		worse *Row
		want  Verdict
	}{
		{"below", row(30, 21, 17, 26), &often, Reproduced},
		{"above", row(20, 25, 22, 28), &often, Differs},
		{"around", row(20, 20, 18, 22), &often, TooWeak},
		{"half a per cent of the jobs get worse", row(20, 8.5, 3.9, 14), &rare, NoTest},
		{"of every run", row(10, 9, 9, 9), nil, Reproduced},
		{"nothing measured", Row{Paper: Number(1)}, nil, NotReproducible},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.row.JudgeAtMost(tc.worse, "because"); got.Verdict != tc.want {
				t.Errorf("%q (%s), want %q", got.Verdict, got.Note, tc.want)
			}
		})
	}
}

// TestJudgeOrder: an order of 0.02 % is none, nor is one that holds in half of the runs.
func TestJudgeOrder(t *testing.T) {
	for _, tc := range []struct {
		name string
		runs float64
		gap  Row
		want Verdict
	}{
		{"clear", 100, row(nothing, 56, 53, 59), Reproduced},
		{"a fiftieth of a per cent in every run", 100, row(nothing, 0.025, 0.007, 0.048), Differs},
		{"half a per cent in every run", 100, row(nothing, 0.5, 0.4, 0.6), Differs},
		{"in four of five runs", 80, row(nothing, 8, 3, 13), TooWeak},
		{"undecided", 95, row(nothing, 3, 0.5, 6), TooWeak},
		{"the other way round", 5, row(nothing, -8, -12, -4), Differs},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := row(nothing, tc.runs, tc.runs, tc.runs)
			if got := r.JudgeOrder(tc.gap); got.Verdict != tc.want {
				t.Errorf("%q (%s), want %q", got.Verdict, got.Note, tc.want)
			}
			if r.N = leastRuns - 1; r.JudgeOrder(tc.gap).Verdict != TooWeak {
				t.Errorf("%d runs are enough", r.N)
			}
		})
	}
}

// TestReachable: what a network cannot change by five per cent is not compared.
func TestReachable(t *testing.T) {
	for _, tc := range []struct {
		name   string
		bound  float64
		metric string
		row    Row
		want   Verdict
	}{
		{"too little", 2, "mean JCT", row(61, 0.3, 0.2, 0.4), NoTest},
		{"enough", 40, "mean JCT", row(61, 0.3, 0.2, 0.4), Differs},
		{"CCT is all network", 2, "mean CCT", row(61, 0.3, 0.2, 0.4), Differs},
		{"no claim", 2, "makespan", row(nothing, 0.3, 0.2, 0.4), NoClaim},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := Runs{{bounded(meanJCT): tc.bound, bounded(makespan): tc.bound}}
			got := tc.row.Judge(0, "because").reachable(base, tc.metric, 1)
			if got.Verdict != tc.want {
				t.Errorf("%q (%s), want %q", got.Verdict, got.Note, tc.want)
			}
		})
	}
}

// TestJudgeTrend: Figures 4 and 5 rise over hosts in the document and fall here, so that agreement at
// 30 hosts is where two lines cross.
func TestJudgeTrend(t *testing.T) {
	for _, tc := range []struct {
		name string
		rows []Row
		want string // verdict of the last
		note string
	}{
		{"rises and falls", []Row{row(13, 86, 80, 92), row(nothing, 39, 35, 43),
			row(30, 26.5, 24.2, 29)}, "differs",
			"over hosts the document's figure rises and ours falls"},
		{"both rise", []Row{row(13, 14, 12, 16), row(30, 27, 25, 29)}, "reproduced", ""},
		{"ours is flat", []Row{row(13, 25, 22, 28), row(30, 27, 25, 29)}, "differs", "neither rises nor falls"},
		{"one point", []Row{row(nothing, 86, 80, 92), row(30, 27, 25, 29)}, "reproduced", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var rows []*Row
			for i := range tc.rows {
				tc.rows[i] = tc.rows[i].Judge(0, "because")
				rows = append(rows, &tc.rows[i])
			}
			JudgeTrend(rows, "hosts")
			last := tc.rows[len(tc.rows)-1]
			if string(last.Verdict) != tc.want || !strings.Contains(last.Note, tc.note) {
				t.Errorf("%q (%s), want %q (%s)", last.Verdict, last.Note, tc.want, tc.note)
			}
		})
	}
}
