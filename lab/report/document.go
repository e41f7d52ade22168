package report

import (
	"fmt"

	"maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"lightloom/lab/report/plot"
)

// The page is put together of elements, whose texts and attributes are escaped where they are made, and
// not by html/template: it calls methods by names that the linker cannot know, which keeps every method
// of every library in the binary, 5 MB.

type node = gomponents.Node

const hatch = `<svg width="0" height="0" aria-hidden="true"><defs>
<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect class="hatch-back" width="5" height="5"/><line class="hatch-line" x1="0" y1="0" x2="0" y2="5"/></pattern>
</defs></svg>
`

func (p *page) document() node {
	return html.Doctype(html.HTML(html.Lang("en"),
		html.Head(
			html.Meta(html.Charset("utf-8")),
			html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(gomponents.Text("Lightloom · "+p.Heading)),
			html.StyleEl(gomponents.Raw(pageStyle+plot.CSS()))),
		html.Body(
			gomponents.Raw(hatch),
			html.Main(p.header(), p.compared(), p.lost(), p.mind(), p.forests(), p.times(), p.bytes(),
				pictures("circuits", "Circuits", p.Gantts), pictures("faults", "Faults", p.Faults),
				part("fabric", "Fabric", html.Figure(gomponents.Raw(p.Topology))), p.run()))))
}

// part is a section that the contents name.
func part(id, title string, inside ...node) node {
	return gomponents.Group{
		html.Section(html.Aria("labelledby", id),
			html.H2(html.ID(id), gomponents.Text(title)), gomponents.Group(inside)),
		gomponents.Raw("\n"),
	}
}

func fineprint(format string, args ...any) node {
	return html.P(html.Class("small"), gomponents.Textf(format, args...))
}

func (p *page) header() node {
	return html.Header(
		html.P(html.Class("brand"), gomponents.Text("Lightloom")),
		html.H1(gomponents.Text(p.Heading)),
		html.P(html.Class("verdict"), gomponents.Text(p.Headline())),
		html.P(html.Class("sub"), gomponents.Text(p.Subtitle)),
		html.Nav(html.Aria("label", "Contents"), html.Ul(html.Class("contents"),
			gomponents.Map(p.Contents, func(s section) node {
				return html.Li(html.A(html.Href("#"+s.ID), gomponents.Text(s.Title)))
			}))))
}

func (p *page) compared() node {
	link := func(name string) node { return html.A(html.Href(name), gomponents.Text(name)) }
	return part("compare", "Policies side by side",
		html.Div(html.Class("scroll"), html.TabIndex("0"), html.Role("region"),
			html.Aria("labelledby", "compare"),
			p.table(p.Lines, true)),
		html.Details(
			html.Summary(gomponents.Text("Coflows by size and against their time alone, use of links and circuits, stages of "+
				"reconfigurations, dark times, work of policies")),
			html.Div(html.Class("scroll"), p.table(p.Details, false))),
		html.P(html.Class("small"), gomponents.Text("The figures are in "), link(policiesFile),
			gomponents.Text(", "),
			link(coflowsFile), gomponents.Text(", "), link(circuitsFile),
			gomponents.If(len(p.utilised()) > 0, gomponents.Group{gomponents.Text(", "), link(linksFile)}),
			gomponents.Text(" and, but for what single circuits and links did, in "), link(reportFile), gomponents.Text(".")),
		fineprint("Bold: the least of its line. CCT: from when a coflow's host flows may start to its last byte received. "+
			"JCT: from a job's arrival to its end. Percentiles are by nearest rank."))
}

func (p *page) table(lines []tableLine, marked bool) node {
	at := -1
	head := gomponents.Map(p.Head, func(name []string) node {
		at++
		th := gomponents.Group{html.Scope("col")}
		for i, part := range name {
			if i > 0 {
				th = append(th, html.Wbr(), gomponents.Text("+"))
			}
			th = append(th, gomponents.Text(part))
		}
		if marked {
			th = append(th, p.marks(on(p.Mind, at, ""), on(p.Lost, at, "")))
		}
		return html.Th(th)
	})
	body := gomponents.Map(lines, func(l tableLine) node {
		cells := gomponents.Map(l.Cells, func(c cell) node {
			if !c.Best || !marked {
				return html.Td(gomponents.Text(c.Text), p.marks(c.Mind, c.Lost))
			}
			return html.Td(html.Class("best"), gomponents.Text(c.Text),
				html.Span(html.Class("hidden"), gomponents.Text(" (least)")), p.marks(c.Mind, c.Lost))
		})
		return gomponents.Group{html.Tr(html.Th(html.Scope("row"),
			gomponents.If(l.Means != "", html.Title(l.Means)), gomponents.Text(l.Name)), cells), gomponents.Raw("\n")}
	})
	return html.Table(
		html.THead(html.Tr(html.Th(html.Scope("col"),
			html.Span(html.Class("hidden"), gomponents.Text("figure"))), head)),
		html.TBody(body))
}

func (p *page) lost() node {
	var inside node
	switch {
	case len(p.Lost) > 0:
		inside = remarkList(lossID, p.Lost)
	case len(p.Policies) < 2:
		inside = html.P(gomponents.Text("One policy was run: there is nothing to compare it with."))
	default:
		inside = html.P(gomponents.Text(
			"No row is beaten by another in any of the times compared, and no coflow is slower than under the baseline."))
	}
	return part("losses", "Where a policy loses", inside)
}

// What begins the ids of remarks.
const (
	mindID = "mind-"
	lossID = "loss-"
)

// mind lists the remarks that cells and heads of the table link to.
func (p *page) mind() node {
	if len(p.Mind) == 0 {
		return nil
	}
	return part("mind", "What to mind", remarkList(mindID, p.Mind))
}

func remarkList(id string, all []remark) node {
	var inside gomponents.Group
	for i, x := range all {
		inside = append(inside, html.Li(html.ID(fmt.Sprint(id, i)), gomponents.Text(x.text)))
	}
	return html.Ul(html.Class("losses"), inside)
}

// marks are the links from a cell to what is said of it: ! to what to mind, ↓ to where its policy loses.
func (p *page) marks(mind, lost []int) node {
	var out gomponents.Group
	add := func(sign, id string, at []int, all []remark) {
		for _, i := range at {
			out = append(out, html.A(html.Class("mark"), html.Href(fmt.Sprint("#", id, i)),
				html.Title(all[i].text),
				html.Aria("label", all[i].text), gomponents.Text(sign)))
		}
	}
	add("!", mindID, mind, p.Mind)
	add("↓", lossID, lost, p.Lost)
	return out
}

func (p *page) forests() node {
	var all gomponents.Group
	for i, f := range p.Forests {
		all = append(all, part(fmt.Sprintf("seeds%d", i), f.Title,
			html.Figure(html.FigCaption(html.Strong(gomponents.Text(f.Name)),
				gomponents.Textf(" %s: left of 1 less is taken", f.Against)), gomponents.Raw(f.SVG)),
			fineprint("%s", f.Words)))
	}
	return all
}

// legends lists classes of colours with what they stand for.
func legends(all []legend) node {
	return html.Ul(html.Class("legend"), gomponents.Map(all, func(l legend) node {
		return html.Li(html.Span(html.Class(l.Class)), gomponents.Text(l.Name))
	}))
}

func (p *page) times() node {
	figure := func(title, svg string) node {
		return html.Figure(html.FigCaption(gomponents.Text(title)), gomponents.Raw(svg))
	}
	return part("cdf", "Completion times", legends(p.Legend), html.Div(html.Class("pair"),
		figure("Coflows: share completed within", p.CCTs), figure("Jobs: share completed within", p.JCTs)))
}

func (p *page) bytes() node {
	return part("bytes", "Bytes between racks",
		fineprint("As the ports counted them (“layer 2”: with headers and what was sent again), or payload, where nothing "+
			"counts. The table above has the payload of coflows."),
		legends([]legend{{"over circuits", "key bytes-ocs"}, {"over packets", "key bytes-eps"}}),
		html.Figure(gomponents.Raw(p.Bytes)))
}

// pictures is a section of one picture a policy, or nothing.
func pictures(id, title string, all []picture) node {
	if len(all) == 0 {
		return nil
	}
	return part(id, title, gomponents.Map(all, func(one picture) node {
		return html.Figure(html.FigCaption(html.Strong(gomponents.Text(one.Name)),
			gomponents.Text(" "+one.Text)),
			gomponents.Raw(one.SVG))
	}))
}

func (p *page) run() node {
	var notes gomponents.Group
	for i := range p.Policies {
		one := &p.Policies[i]
		if len(one.Stages) > 0 {
			notes = append(notes, html.H3(gomponents.Text(one.Name+": stages of a reconfiguration delay")), stagesTable(one))
		}
	}
	return part("facts", "What was run", html.Dl(gomponents.Map(p.Facts, func(f fact) node {
		return gomponents.Group{html.Div(html.Dt(gomponents.Text(f.Name)), html.Dd(gomponents.Text(f.Value))),
			gomponents.Raw("\n")}
	})), notes)
}

func stagesTable(p *Policy) node {
	var head, body gomponents.Group
	for _, name := range []string{"stage", "n", "p50, µs", "p99, µs"} {
		head = append(head, html.Th(html.Scope("col"), gomponents.Text(name)))
	}
	for _, s := range p.Stages {
		body = append(body, html.Tr(html.Th(html.Scope("row"), gomponents.Text(s.Name)),
			html.Td(gomponents.Textf("%d", s.Count)), html.Td(gomponents.Textf("%.1f", s.P50)),
			html.Td(gomponents.Textf("%.1f", s.P99))))
	}
	return html.Div(html.Class("scroll"), html.Table(html.THead(html.Tr(head)), html.TBody(body)))
}
