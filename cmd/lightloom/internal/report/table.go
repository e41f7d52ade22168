package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// line is one line of the comparison: a figure and what a row has of it. The table and the page show the same lines.
type line struct {
	name string
	of   func(*Policy) string
	less func(*Policy) float64 // where less is better; nil where that cannot be said
}

func lines() []line {
	three := func(s Seconds) string { return sig(s.Mean) + " / " + sig(s.P50) + " / " + sig(s.P95) }
	moves := func(m Moves) string {
		if m.Evaluated == 0 {
			return "–"
		}
		return thousands(m.Evaluated) + " / " + thousands(m.Accepted)
	}
	return []line{
		{"makespan, s", func(p *Policy) string { return sig(p.Makespan) }, func(p *Policy) float64 { return p.Makespan }},
		{"CCT, s: mean / p50 / p95", func(p *Policy) string { return three(p.CCT) }, func(p *Policy) float64 { return p.CCT.Mean }},
		{"JCT, s: mean / p50 / p95", func(p *Policy) string { return three(p.JCT) }, func(p *Policy) float64 { return p.JCT.Mean }},
		{"between racks", func(p *Policy) string { return megabytes(p.BytesInter) }, nil},
		{"of it over circuits", func(p *Policy) string { return percent(p.OCSShare) }, nil},
		{"reconfigurations", func(p *Policy) string { return thousands(p.Reconfigurations) }, nil},
		{"outage: assumed / p50 / p99", func(p *Policy) string {
			return orDash(p.Outage.Count, p.Outage.Assumed, p.Outage.P50, p.Outage.P99)
		}, nil},
		{"dark: asked / p50 / p99", func(p *Policy) string { return orDash(p.Dark.Count, p.Dark.Asked, p.Dark.P50, p.Dark.P99) }, nil},
		{"packets dropped at dark ports", func(p *Policy) string { return thousands(p.DroppedDark) }, nil},
		{"retransmissions", func(p *Policy) string { return thousands(p.Retransmissions) }, nil},
		{"placing: moves tried / kept", func(p *Policy) string { return moves(p.Anneal.Place) }, nil},
		{"routing: moves tried / kept", func(p *Policy) string { return moves(p.Anneal.Route) }, nil},
	}
}

func orDash(n int, us ...float64) string {
	if n == 0 {
		return "–"
	}
	var s []string
	for _, v := range us {
		s = append(s, micros(v))
	}
	return strings.Join(s, " / ")
}

// best returns the row that has least of a line; -1 where there is no such thing or several have it.
func best(policies []Policy, l line) int {
	if l.less == nil || len(policies) < 2 {
		return -1
	}
	at, ties := 0, 0
	for i := range policies {
		switch v, least := l.less(&policies[i]), l.less(&policies[at]); {
		case v < least:
			at, ties = i, 1
		case v == least:
			ties++
		}
	}
	if ties > 1 {
		return -1
	}
	return at
}

// Table writes the comparison, a column a policy, and then where policies lose.
func (r *Report) Table(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleRounded)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.SeparateRows = false
	head := table.Row{""}
	configs := []table.ColumnConfig{{Number: 1, Align: text.AlignLeft}}
	for i, p := range r.Policies {
		head = append(head, strings.ReplaceAll(p.Name, "+", "\n+"))
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(head)
	t.SetColumnConfigs(configs)
	for _, l := range lines() {
		row := table.Row{l.name}
		win := best(r.Policies, l)
		for i := range r.Policies {
			s := strings.ReplaceAll(l.of(&r.Policies[i]), " / ", "\n")
			if i == win {
				s = "* " + s
			}
			row = append(row, s)
		}
		row[0] = strings.ReplaceAll(strings.Replace(l.name, ": ", "\n  ", 1), " / ", "\n  ")
		t.AppendRow(row)
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	_, err := io.WriteString(w, r.words())
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// words are what stands under the table.
func (r *Report) words() string {
	var b strings.Builder
	if len(r.Policies) > 1 {
		b.WriteString("* least of its line\n")
	}
	for _, s := range r.Losses {
		b.WriteString("! " + s + "\n")
	}
	for i := range r.Policies {
		for _, s := range r.Policies[i].Notes {
			b.WriteString(r.Policies[i].Name + ": " + s + "\n")
		}
	}
	for _, s := range r.Notes {
		b.WriteString(s + "\n")
	}
	return b.String()
}
