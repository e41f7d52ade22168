package experiment

import (
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
)

// Verdict is a row's judgement of the document's figure.
type Verdict string

// The verdicts.
const (
	Reproduced      Verdict = "reproduced"
	Differs         Verdict = "differs"          // the note says why, as far as is known
	NotReproducible Verdict = "not reproducible" // the note says why
	NoClaim         Verdict = "no claim"         // the document gives no such figure; the row is ours
	TooWeak         Verdict = "too weak"         // the interval is too wide to say
	NoTest          Verdict = "no test"          // the document's figure would be met without any effect
)

// Row is one figure of a document and our measurement. A nil number does not exist.
type Row struct {
	Figure   string   `json:"figure"`  // such as "Figure 4"
	Setting  string   `json:"setting"` // such as "Fat-tree, 30 hosts, both"
	Metric   string   `json:"metric"`
	Unit     string   `json:"unit"`
	Paper    *float64 `json:"paper"`
	Measured *float64 `json:"measured"`
	Low      *float64 `json:"low"` // of the 95 % interval
	High     *float64 `json:"high"`
	N        int      `json:"n"` // runs
	Verdict  Verdict  `json:"verdict"`
	Note     string   `json:"note"`
}

// exact is the note of a figure that nothing random is in.
const exact = "deterministic, matches"

// Result is what an experiment found.
type Result struct {
	Assumptions []string // settings that the document leaves open, as run
	Rows        []Row
	Pictures    []plot.Chart // figures drawn again
	Notes       []string
	seed        uint64 // of the resamples that intervals come from
}

// Number is a row's number.
func Number(v float64) *float64 { return &v }

// Measure fills a row's interval from one figure a run.
func (r Row) Measure(v []float64, seed uint64) Row {
	if len(v) == 0 {
		return r
	}
	i := report.Bootstrap(v, seed)
	r.Measured, r.Low, r.High, r.N = Number(i.Mean), Number(i.Low), Number(i.High), len(v)
	return r
}
