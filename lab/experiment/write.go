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
	p := &Page{Name: e.Name, Source: e.Source, Version: version.This(), On: b.On, Seeds: b.Seeds,
		FirstSeed:   b.First,
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
		_ = c.Write(console.Cells([]string{r.Figure, r.Setting, r.Metric, r.Unit, number(r.Paper),
			number(r.Measured),
			number(r.Low), number(r.High), strconv.Itoa(r.N), string(r.Verdict), r.Note}))
	}
	c.Flush()
	return c.Error() // of any write before
}

// mostShown is how many rows of a page are shown on one screen.
const mostShown = 24

// Verdict counts the verdicts, those on a document's figures first.
func (p *Page) Verdict() string {
	counts := map[Verdict]int{}
	for _, r := range p.Rows {
		counts[r.Verdict]++
	}
	var parts []string
	for _, v := range []Verdict{Reproduced, Differs, TooWeak, NoTest, NotReproducible, NoClaim} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	if len(parts) == 0 {
		return "no rows"
	}
	return strings.Join(parts, ", ")
}

// Table writes the page for readers, on one screen: the verdict, the rows that differ before the others, and at
// most five lines.
func (p *Page) Table(w io.Writer) error {
	t := console.NewTable(w, "figure", "setting", "metric", "document", "measured", "95 %", "n",
		"verdict", "note")
	t.Right(4, 5)
	t.Most(2, 42)
	t.Most(9, 60)
	shown := p.shown()
	for _, r := range shown {
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
	head := fmt.Sprintf("%s: %s (%s)\n%s, seeds %d to %d, %d comparisons with the document\n",
		p.Name, p.Verdict(),
		p.Source, p.On, p.FirstSeed, p.FirstSeed+uint64(p.Seeds)-1, p.Comparisons)
	if p.Quick {
		head += "a quick try: these rows prove nothing\n"
	}
	_, err := fmt.Fprintf(w, "%s%s\n%s%s%s", head, t.Render(), listed("assumed", p.Assumptions),
		listed("note", p.Notes),
		p.rest(len(shown)))
	return err
}

// shown are the rows of one screen, in their order: all, or those that differ and then the first ones.
func (p *Page) shown() (out []Row) {
	if len(p.Rows) <= mostShown {
		return p.Rows
	}
	take := make([]bool, len(p.Rows))
	left := mostShown
	for _, differ := range []bool{true, false} {
		for i, r := range p.Rows {
			if left > 0 && !take[i] && (r.Verdict == Differs) == differ {
				take[i] = true
				left--
			}
		}
	}
	for i, r := range p.Rows {
		if take[i] {
			out = append(out, r)
		}
	}
	return out
}

// rest says what the screen leaves out.
func (p *Page) rest(shown int) string {
	rows, lines := len(p.Rows)-shown, max(len(p.Assumptions)-1, 0)+max(len(p.Notes)-1, 0)
	if rows == 0 && lines == 0 {
		return ""
	}
	return fmt.Sprintf("-o json has all: %s and %s\n", console.Count(rows, "further row"),
		console.Count(lines, "further remark"))
}

// listed writes the first of lines.
func listed(word string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s\n", word, lines[0])
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
