package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/lab/console"
)

// line is one line of the comparison: a figure and each row's value. The table and the page show the
// same lines; the page has details beside.
type line struct {
	name  string
	means string // what the page says of it where one asks; empty: nothing
	of    func(*Policy) string
	less  func(*Policy) float64 // where less is better; nil where that cannot be said
}

// meansCCT explains lines of coflows' times.
const meansCCT = "Coflow completion time: from when a coflow's host flows may start to its last byte received."

func (r *Report) lines() []line {
	const cct, jct = meansCCT, "Job completion time: from a job's arrival to its end."
	out := []line{
		least("makespan, s", "From the first arrival to the last end.",
			func(p *Policy) float64 { return p.Makespan }),
		least("CCT mean, s", cct, func(p *Policy) float64 { return p.CCT.Mean }),
		least("CCT p50, s", cct, func(p *Policy) float64 { return p.CCT.P50 }),
		least("CCT p95, s", cct, func(p *Policy) float64 { return p.CCT.P95 }),
		least("JCT mean, s", jct, func(p *Policy) float64 { return p.JCT.Mean }),
		least("JCT p50, s", jct, func(p *Policy) float64 { return p.JCT.P50 }),
		least("JCT p95, s", jct, func(p *Policy) float64 { return p.JCT.P95 })}
	out = append(append(out, r.healthy()...), r.gaps()...)
	if slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Throughput != nil }) {
		out = append(out, text("job throughput mean, Mb/s",
			"What a job's sinks received, by the time that it ran.",
			func(p *Policy) string { return megabits(p, func(t *Throughput) float64 { return t.Mean }) }))
	}
	out = append(append(out, r.promised()...),
		text("payload between racks", "Bytes of coflows between hosts of different racks, without headers and repetitions.",
			func(p *Policy) string { return megabytes(p.BytesInter) }),
		text("of it over circuits", "The share of the bytes between racks that circuits carried, as ports or flows count "+
			"them.", func(p *Policy) string { return percent(p.OCSShare) }))
	return append(append(out, r.onward()...),
		text("reconfigurations", "How often a circuit was set up or moved.",
			func(p *Policy) string { return thousands(p.Reconfigurations) }),
		text("reconfiguration delay assumed", "What circuit schedules took a move to last.",
			func(p *Policy) string {
				return orDash(p.ReconfigurationDelay.Count, p.ReconfigurationDelay.Assumed)
			}),
		text(lineDelays, "The whole of a move: from its intent to the circuit in service.",
			func(p *Policy) string {
				return orDash(p.ReconfigurationDelay.Count, p.ReconfigurationDelay.P50, p.ReconfigurationDelay.P99)
			}),
		text("dropped, dark or unmatched", "Packets that met a dark port, or no rule.",
			func(p *Policy) string { return thousands(p.DroppedDark) }),
		text("retransmissions", "Segments that TCP sent again.",
			func(p *Policy) string { return thousands(p.Retransmissions) }))
}

// onward is the line of what racks on the way have sent on, where a policy has packets take several circuits.
func (r *Report) onward() []line {
	if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Multihop != nil }) {
		return nil
	}
	return []line{text("sent on by racks on the way", "Payload of paths over several circuits, or over circuits and "+
		"packets, and how many such paths there were. It counts as bytes between racks at each leg.",
		func(p *Policy) string {
			if p.Multihop == nil {
				return "–"
			}
			return fmt.Sprintf("%s, %s paths", megabytes(int64(p.Multihop.Onward)), thousands(p.Multihop.Stood))
		})}
}

// details are the lines that the page shows where one asks for them, and the table leaves out.
func (r *Report) details() []line {
	const dark = "How long a moved port had no light."
	return append(append(r.staged(), r.utilised()...),
		text("dark time asked", dark, func(p *Policy) string { return orDash(p.Dark.Count, p.Dark.Asked) }),
		text("dark time p50, p99", dark, func(p *Policy) string {
			return orDash(p.Dark.Count,
				p.Dark.P50, p.Dark.P99)
		}),
		text("placing: tried, kept", "Placements that the annealer tried and kept.",
			func(p *Policy) string { return moves(p.Anneal.Place) }),
		text("routing: tried, kept", "Routes that the annealer tried and kept.",
			func(p *Policy) string { return moves(p.Anneal.Route) }),
	)
}

// promised returns the lines of weights and deadlines, if some coflow has one.
func (r *Report) promised() (out []line) {
	if slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Deadlines != nil }) {
		out = append(out, text("deadlines met", "Coflows that were done in time, of all that have a deadline.",
			func(p *Policy) string {
				if p.Deadlines == nil {
					return "–"
				}
				return fmt.Sprintf("%d of %d", p.Deadlines.Met, p.Deadlines.Of)
			}))
	}
	if slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.WeightedCCT > 0 }) {
		out = append(out, least("CCT mean by weight, s",
			"Completion times of coflows, each counted by its weight.",
			func(p *Policy) float64 { return p.WeightedCCT }))
	}
	return out
}

// least is a line with a time, of which less is better.
func least(name, means string, of func(*Policy) float64) line {
	return line{name: name, means: means, of: func(p *Policy) string { return sig(of(p)) }, less: of}
}

// text is a line of which nothing is better.
func text(name, means string, of func(*Policy) string) line {
	return line{name: name, means: means, of: of}
}

func moves(m controller.MoveCounts) string {
	if m.Evaluated == 0 {
		return "–"
	}
	return thousands(m.Evaluated) + ", " + thousands(m.Accepted)
}

func orDash(n int, us ...float64) string {
	if n == 0 {
		return "–"
	}
	var s []string
	for _, v := range us {
		s = append(s, micros(v))
	}
	return strings.Join(s, ", ")
}

// best returns the row with the least value of a line; -1 if there is none or several have it.
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

// Table writes the headline, the comparison, a column a policy, then where policies lose, then the
// comparison over seeds.
func (r *Report) Table(w io.Writer) error {
	if _, err := fmt.Fprintln(w, r.Headline()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	head := []any{""}
	for _, p := range r.Policies {
		head = append(head, strings.ReplaceAll(p.Name, "+", "\n+"))
	}
	t := console.NewTable(w, head...)
	for i := range r.Policies {
		t.Right(i + 2)
	}
	for _, l := range r.lines() {
		row := []any{l.name}
		win := best(r.Policies, l)
		for i := range r.Policies {
			s := l.of(&r.Policies[i])
			if i == win {
				s = "* " + s
			}
			row = append(row, s)
		}
		t.Row(row...)
	}
	if err := t.Print(); err != nil {
		return err
	}
	if r.Repeat != nil {
		if err := r.Repeat.table(w, r.Fabric.On); err != nil {
			return err
		}
	}
	for _, line := range r.words() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	return nil
}

// words are the lines under the table: what the verdict rests on, the one caveat that matters most, and
// how much more the report says.
func (r *Report) words() []string {
	rests := r.rests()
	if len(r.Policies) > 1 {
		rests = "* least of its line. " + rests
	}
	out := []string{rests}
	caveats := r.caveats()
	if len(caveats) == 0 {
		return out
	}
	out = append(out, "! "+caveats[0])
	if more := len(caveats) - 1; more > 0 {
		out = append(out, fmt.Sprintf("The report has %s.", console.Count(more, "further remark")))
	}
	return out
}

// rests says what the verdict rests on.
func (r *Report) rests() string {
	if r.repeated() {
		return "The verdict rests on " + console.Count(len(r.Repeat.Runs), "run") + ", the unit of replication."
	}
	text := fmt.Sprintf("The verdict rests on one run, seed %d", r.Seed)
	for _, p := range r.Seeds {
		if p.Figure == meanCCT && len(r.Policies) > 1 && p.Against == r.contenders()[1].Name {
			return fmt.Sprintf("%s. Over %d seeds on the simulator %s has %s (%s) of the mean CCT of %s.", text, p.Runs,
				p.Policy, sig(p.Ratio.Mean), p.Ratio.interval(), p.Against)
		}
	}
	return text + "; --repeat 10 tells more."
}

// caveats are the remarks, where a policy is worse, and how the run was made.
func (r *Report) caveats() []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, x := range r.remarks() {
		add(x.text)
	}
	for _, s := range r.Losses {
		add(s)
	}
	for _, x := range r.general() {
		add(x.text)
	}
	return out
}
