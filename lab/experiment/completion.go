package experiment

import (
	"context"
	"fmt"
	"slices"

	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
	"lightloom/lab/scenario"
)

// completion is one curve of Figure 12 or 13, and what the document says of it in per cent.
type completion struct {
	figure                  string
	e                       engine
	net                     string
	jobs                    int
	p50, p75, worse, slower float64 // improvements of jobs; share of jobs made worse, and the worst of them
}

func completions() []completion {
	return []completion{
		{"Figure 12", hadoop(), "Fat-tree", 120, 34, 38, 27, 20},
		{"Figure 12", hadoop(), "Jellyfish", 120, 34, 38, 18, 20},
		{"Figure 13", storm(), "Fat-tree", 60, 34, 41, 24, 30},
		{"Figure 13", storm(), "Jellyfish", 60, 34, 41, 16, 30},
	}
}

func (c completion) String() string { return c.e.name + ", " + c.net }

// run measures the times of jobs.
func (c completion) run(ctx context.Context, b *Bench, sys system, seed uint64) (Figures, error) {
	n := c.jobs
	if b.Quick {
		n = 5
	}
	drawn, err := crowded(c.e).draw(b, n, seed)
	if err != nil {
		return nil, err
	}
	return controlled(ctx, &replay.Case{Options: scenario.Options{
		On: OnFlowsim, Fabric: thousand(c.net, 1000), Policies: []string{sys.policy}, Given: drawn,
		Seed: seed,
	}})
}

// runCompletion is Figures 12 and 13: improvements of job completion times, job by job, over random
// placement and paths, in each reading.
func runCompletion(ctx context.Context, b *Bench) (*Result, error) {
	out := b.Result(append(assumedCrosslayer(b),
		"1,000 hosts: fat-tree of 16-port switches, Jellyfish of 200 switches with ten links each and five hosts (15 ports)",
		"arrivals are not published: Storm a topology every 600 ms, Hadoop a job every 100 ms with 20 maps and 10 reduces",
		"improvement of a job: 1 − its time ÷ its time under random, the run with the same seed")...)
	for _, c := range completions() { // readings differ by engine
		if _, err := Fill(ctx, b, out, []completion{c}, c.e.whole(), completion.run, completion.rows); err != nil {
			return nil, err
		}
	}
	out.Notes = append(out.Notes, HolmNote(out.Rows))
	return out, nil
}

func (c completion) rows(out *Result, at Systems) {
	for _, sys := range c.e.whole()[1:] {
		c.add(out, sys, at[sys.name], at["random"])
	}
}

// add adds the rows and the picture of a system.
func (c completion) add(out *Result, sys system, got, random Runs) {
	if sys.compared == "" {
		c.p50, c.p75, c.worse, c.slower = 0, 0, 0, 0
	}
	var p50, p75, worse, worst, all []float64
	for k := range got {
		v := gains(got[k], random[k])
		bad, _ := slices.BinarySearch(v, -0.5)
		p50, p75 = append(p50, report.Percentile(v, .5)), append(p75, report.Percentile(v, .75))
		worse = append(worse, 100*float64(bad)/float64(max(len(v), 1)))
		worst = append(worst, -min(0, report.Percentile(v, 0)))
		all = append(all, v...)
	}
	h := out.At(c.figure, c.String()+", "+sys.name,
		"arrivals, slots and the seed of the network are not published")
	h.Row("improvement, median job", "%", c.p50, p50)
	h.Row("improvement, 75th percentile", "%", c.p75, p75)
	fewer := *h.Row("jobs made worse", "%", c.worse, worse)
	if most := h.Row("worst job slower by", "%", c.slower, worst); most.Paper != nil {
		*most = most.JudgeAtMost(&fewer, h.Why)
	}
	out.At("infinite network", h.Setting, SameOrder).Row(bounded(meanJCT), "%", 0, got.Of(bounded(meanJCT)))

	slices.Sort(all)
	l := plot.Line{Name: h.Setting, StepFunction: true}
	for k, x := range all {
		l.X, l.Y = append(l.X, max(x, -100)), append(l.Y, float64(k+1)/float64(len(all)))
	}
	out.Pictures = append(out.Pictures, plot.Chart{
		Name:  "crosslayer-completion-" + c.e.name + "-" + c.net + "-" + sys.policy,
		Title: c.figure + ": " + h.Setting, X: "improvement of a job, %", Y: "share of jobs", Lines: []plot.Line{l}})
}

// crowded is an engine with arrivals that keep a thousand hosts busy.
func crowded(e engine) *engine {
	e.text = map[string]string{"Storm": "storm:rate=100/min",
		"Hadoop": "hadoop:rate=10/s,maps=20,reduces=10,bytes=100B-10GB"}[e.name]
	return &e
}

// thousand is a fabric of so many hosts, at least 200: a fat-tree of 16-port switches, or a Jellyfish
// of switches with ten links each and five hosts.
func thousand(net string, hosts int) string {
	if net == "Jellyfish" {
		return fmt.Sprintf("jellyfish:switches=%d,degree=10,hosts=%d,rate=800Mbps,slots=4,paths=10",
			hosts/5, hosts)
	}
	return fmt.Sprintf("fattree:k=16,hosts=%d,rate=800Mbps,slots=4,paths=10", hosts)
}

// gains are by how many per cent jobs take less time, ascending.
func gains(ours, theirs Figures) []float64 {
	var out []float64
	for _, j := range ours.jobs() {
		if t := theirs[j]; t > 0 {
			out = append(out, Below(ours[j], t))
		}
	}
	slices.Sort(out)
	return out
}
