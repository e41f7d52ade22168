package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"lightloom/lab/console"
	"lightloom/lab/report/plot"
)

//go:embed page.css
var pageStyle string

// page is what the document shows. Pictures are SVG, made of numbers and escaped names.
type page struct {
	*Report
	Subtitle string
	Topology string
	Bytes    string
	CCTs     string
	JCTs     string
	Gantts   []picture
	Faults   []picture
	Forests  []forestPicture
	Legend   []legend
	Head     [][]string // the names, cut where they may break
	Mind     []remark
	Lost     []remark
	Lines    []tableLine
	Details  []tableLine
	Facts    []fact
	Heading  string
	Contents []section
}

// section is a part of the page that the contents name.
type section struct{ ID, Title string }

type picture struct {
	Name, Text string
	SVG        string
}

// forestPicture is a picture of comparisons.
type forestPicture struct {
	Title, Name, Against string
	SVG                  string
	Words                string
}

type legend struct{ Name, Class string }

type tableLine struct {
	Name, Means string // Means is empty where the name says it
	Cells       []cell
}

type cell struct {
	Text string
	Best bool
	Mind []int // of page.Mind
	Lost []int // of page.Lost
}

type fact struct{ Name, Value string }

// HTML returns report.html: one file without scripts, which needs no other file.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := r.page().document().Render(&b); err != nil {
		return nil, fmt.Errorf("write report.html: %w", err)
	}
	return b.Bytes(), nil
}

func (r *Report) page() *page {
	p := &page{
		Report: r, Subtitle: r.subtitle(),
		Topology: topology(r.Fabric),
		Bytes:    bytesPicture(r.Policies),
		CCTs:     completionTimes("Coflow completion times", r.curves(ccts)),
		JCTs:     completionTimes("Job completion times", r.curves(jcts)),
		Facts:    r.facts(),
		Heading:  r.heading(),
	}
	if r.Repeat != nil && len(r.Repeat.Pairs) > 0 {
		p.Forests = append(p.Forests, forestPicture{"Over several runs" + where(r.Fabric.On),
			r.Repeat.Pairs[0].Against,
			"each other policy against it",
			forest(r.Repeat.paired()), r.Repeat.Words()})
	}
	if len(r.Seeds) > 0 {
		p.Forests = append(p.Forests, forestPicture{"Over several seeds, on the simulator", r.Seeds[0].Policy,
			fmt.Sprintf("against each other row, %d seeds", r.Seeds[0].Runs), forest(r.Seeds),
			versusWords(r.Seeds)})
	}
	for i := range r.results {
		one := &r.results[i]
		p.Legend = append(p.Legend, legend{one.Name, "key " + plot.Series(i)})
		if len(one.Circuits) > 0 {
			p.Gantts = append(p.Gantts, picture{one.Name, ganttWords(&r.Policies[i]),
				gantt(one, r.span(), &r.Fabric)})
		}
	}
	for i := range r.results {
		if one := &r.results[i]; len(one.Faults) > 0 {
			p.Faults = append(p.Faults, picture{one.Name, faultWords(one), faultPicture(one, r.span())})
		}
	}
	p.Mind, p.Lost = append(r.remarks(), r.general()...), lost(r.Policies)
	p.Lines, p.Details = p.rowsOf(r.lines()), p.rowsOf(append(r.sized(), r.details()...))
	for i := range p.Policies {
		p.Head = append(p.Head, strings.Split(p.Policies[i].Name, "+"))
	}
	p.Contents = p.contents()
	return p
}

// heading names a run by what was replayed.
func (r *Report) heading() string {
	if r.Title == "demo" || r.Workload.Source == "" {
		return r.Title
	}
	what := fmt.Sprintf("%d policies", len(r.Policies))
	if len(r.Policies) == 1 {
		what = r.Policies[0].Name
	}
	return r.Workload.Source + " under " + what
}

// contents lists the sections that this page has.
func (p *page) contents() []section {
	out := []section{{"compare", "Policies side by side"}, {"losses", "Where a policy loses"}}
	if len(p.Mind) > 0 {
		out = append(out, section{"mind", "What to mind"})
	}
	for i, f := range p.Forests {
		out = append(out, section{fmt.Sprintf("seeds%d", i), f.Title})
	}
	out = append(out, section{"cdf", "Completion times"}, section{"bytes", "Bytes between racks"})
	if len(p.Gantts) > 0 {
		out = append(out, section{"circuits", "Circuits"})
	}
	if len(p.Faults) > 0 {
		out = append(out, section{"faults", "Faults"})
	}
	return append(out, section{"fabric", "Fabric"}, section{"facts", "What was run"})
}

func (p *page) rowsOf(lines []line) (out []tableLine) {
	for _, l := range lines {
		row := tableLine{Name: l.name, Means: l.means}
		win := best(p.Policies, l)
		for i := range p.Policies {
			c := cell{Text: l.of(&p.Policies[i]), Best: i == win, Mind: on(p.Mind, i, l.name),
				Lost: on(p.Lost, i, l.name)}
			if len(c.Mind) > 0 {
				c.Text = strings.TrimSuffix(c.Text, marked)
			}
			row.Cells = append(row.Cells, c)
		}
		out = append(out, row)
	}
	return out
}

func (r *Report) subtitle() string {
	f := r.Fabric
	s := fmt.Sprintf("%s, %s, %s, on %s", console.Count(r.Workload.Jobs, "job"),
		console.Count(r.Workload.Coflows, "coflow"), megabytes(r.Workload.BytesTotal), console.Count(f.Racks, "rack"))
	switch f.On {
	case "netns":
		s += ": real packets between Linux network namespaces"
	case "flowsim":
		s += ": flow-level simulation in virtual time"
	}
	return s
}

func ganttWords(p *Policy) string {
	s := fmt.Sprintf("%s reconfigurations, %s of the bytes between racks.", thousands(p.Reconfigurations),
		percent(p.OCSShare))
	if p.ReconfigurationDelay.Count > 0 {
		s += fmt.Sprintf(" Reconfiguration delay of a move: %s assumed, %s p50, %s p99.",
			micros(p.ReconfigurationDelay.Assumed), micros(p.ReconfigurationDelay.P50),
			micros(p.ReconfigurationDelay.P99))
	}
	return s
}

// facts lists the facts that a reader needs to judge or repeat the run.
func (r *Report) facts() []fact {
	w, f, c := r.Workload, r.Fabric, r.Controller
	var out []fact
	add := func(name, format string, args ...any) {
		if v := strings.TrimSpace(fmt.Sprintf(format, args...)); v != "" && v != "0" {
			out = append(out, fact{name, v})
		}
	}
	add("command", "%s", r.command())
	add("version", "%s", r.Version)
	add("commit", "%s", r.commit())
	out = append(out, fact{"date, machine, wall and CPU time",
		"in run.json beside this page, because they differ from run to run"})
	out = append(out, fact{"seed", fmt.Sprint(r.Seed)})
	add("workload", "%s", w.Source)
	add("flows", "%s", thousands(w.Flows))
	add("payload", "%s bytes; %s before scaling", thousands(w.BytesTotal), thousands(w.BytesTrace))
	add("scale, speedup", "%s, %s", plain(w.Scale), plain(w.Speedup))
	add("folding", "%s", w.Fold)
	add("model", "%s", w.Model)
	add("elephants", "circuits from %s of a rack pair and coflow",
		plain(float64(w.ElephantThreshold)/1e6)+" MB")
	add("fabric", "%s", f.Spec)
	add("runs on", "%s, dataplane %s, privilege %s", f.On, f.Dataplane, f.Privilege)
	add("transport", "%s", f.Congestion)
	if f.MTU > 0 {
		add("MTU", "%d bytes", f.MTU)
	}
	if f.QueueBytes > 0 {
		add("queue of a ToR–spine link", "%s bytes", thousands(f.QueueBytes))
	}
	add("queues", "%s", f.Queues)
	add("controller", "%s, %s, longest leader outage %s s", console.Count(c.Replicas, "replica"),
		console.Count(int(c.LeaderChanges), "leader change"), sig(c.LeaderOutageSeconds))
	add("percentiles", "%s", r.Percentile)
	return out
}
