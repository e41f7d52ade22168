package experiment

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lightloom/lab/console"
	"lightloom/lab/version"
)

// Page is a result with its experiment and settings: the JSON form of an experiment.
type Page struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Version     string   `json:"version"`
	On          string   `json:"on"`
	Seeds       int      `json:"seeds"`
	FirstSeed   uint64   `json:"first_seed"`
	Quick       bool     `json:"quick,omitempty"`
	Comparisons int      `json:"comparisons"` // rows that hold a figure of the document against ours
	Assumptions []string `json:"assumptions"`
	Rows        []Row    `json:"rows"`
	Notes       []string `json:"notes"`
}

// NewPage joins a result with the experiment and the bench it came from.
func NewPage(e Experiment, b *Bench, r *Result) *Page {
	p := &Page{Name: e.Name, Source: e.Source, Version: version.This(), On: b.On, Seeds: b.Seeds, FirstSeed: b.First,
		Quick:       b.Quick,
		Assumptions: orEmpty(r.Assumptions), Rows: r.Rows, Notes: orEmpty(r.Notes)}
	if p.Rows == nil {
		p.Rows = []Row{}
	}
	for _, row := range r.Rows {
		if row.Verdict != NoClaim {
			p.Comparisons++
		}
	}
	return p
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// JSON writes the page.
func (p *Page) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// CSV writes the rows, a head line first.
func (p *Page) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(strings.Split("figure,setting,metric,unit,paper,measured,low,high,n,verdict,note", ","))
	for _, r := range p.Rows {
		_ = c.Write(console.Cells([]string{r.Figure, r.Setting, r.Metric, r.Unit, number(r.Paper), number(r.Measured),
			number(r.Low), number(r.High), strconv.Itoa(r.N), string(r.Verdict), r.Note}))
	}
	c.Flush()
	return c.Error() // of any write before
}

// Table writes the page for readers.
func (p *Page) Table(w io.Writer) error {
	t := console.NewTable(w, "figure", "setting", "metric", "document", "measured", "95 %", "n", "verdict", "note")
	t.Right(4, 5)
	t.Most(2, 42)
	t.Most(9, 60)
	for _, r := range p.Rows {
		metric := r.Metric
		if r.Unit != "" {
			metric += ", " + r.Unit
		}
		interval := ""
		if r.Low != nil && r.High != nil {
			interval = short(r.Low) + " – " + short(r.High)
		}
		t.Row(r.Figure, r.Setting, metric, short(r.Paper), short(r.Measured), interval, r.N, string(r.Verdict),
			r.Note)
	}
	head := fmt.Sprintf("%s: %s\n%s, seeds %d to %d, %d comparisons with the document\n", p.Name, p.Source, p.On,
		p.FirstSeed,
		p.FirstSeed+uint64(p.Seeds)-1, p.Comparisons)
	if p.Quick {
		head += "a quick try: these rows prove nothing\n"
	}
	_, err := fmt.Fprintf(w, "%s%s\n%s%s", head, t.Render(), listed("assumed", p.Assumptions), listed("note", p.Notes))
	return err
}

func listed(word string, lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\n", word, l)
	}
	return b.String()
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func short(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}
