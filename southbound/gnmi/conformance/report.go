package conformance

import (
	"encoding/xml"
	"fmt"
	"io"

	"maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// About says what was checked, how and by what.
type About struct {
	Target  string // name or address
	Profile string
	GNMI    string // version that the target names
	Checker string // version of the program
	Commit  string // that it was built of; may be empty
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// properties are all that is known.
func (a *About) properties() (out []property) {
	for _, p := range []property{{"target", a.Target}, {"profile", a.Profile}, {"gNMI", a.GNMI},
		{"lightloom", a.Checker},
		{"commit", a.Commit}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return out
}

// junitSuite is a file of results as JUnit writes them, which continuous integration reads.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	About    []property  `xml:"properties>property"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitReason `xml:"failure,omitempty"`
	Skipped *junitReason `xml:"skipped,omitempty"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes findings about a target as JUnit does.
func WriteJUnit(w io.Writer, about About, all []Finding) error {
	s := junitSuite{Name: about.Target, Tests: len(all), About: about.properties()}
	for _, f := range all {
		c := junitCase{Name: f.Rule + ": " + f.Says, Class: "gnmi"}
		switch f.Result {
		case Broken:
			s.Failures++
			c.Failure = &junitReason{f.Why}
		case Skipped:
			s.Skipped++
			c.Skipped = &junitReason{f.Why}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

const style = `
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 70em }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #ccc; padding: .3em .8em; text-align: left }
.held { color: #176117 } .broken { color: #a11 } .skipped { color: #666 }
`

// WriteHTML writes findings about a target as a page.
func WriteHTML(w io.Writer, about About, all []Finding) error {
	cell := func(of func(...gomponents.Node) gomponents.Node, text string) gomponents.Node {
		return of(gomponents.Text(text))
	}
	rows := gomponents.Map(all, func(f Finding) gomponents.Node {
		result := fmt.Sprint(f.Result)
		return html.Tr(cell(html.Td, f.Rule), html.Td(html.Class(result), gomponents.Text(result)),
			cell(html.Td, f.Says),
			cell(html.Td, f.Why), gomponents.Raw("\n"))
	})
	known := gomponents.Map(about.properties(), func(p property) gomponents.Node {
		return gomponents.Group{cell(html.Dt, p.Name), cell(html.Dd, p.Value), gomponents.Raw("\n")}
	})
	return html.Doctype(html.HTML(html.Lang("en"),
		html.Head(html.Meta(html.Charset("utf-8")), cell(html.TitleEl, about.Target),
			html.StyleEl(gomponents.Raw(style))),
		html.Body(cell(html.H1, "gNMI conformance of "+about.Target), html.Dl(known),
			html.Table(html.Tr(cell(html.Th, "rule"), cell(html.Th, "result"), cell(html.Th, "says"),
				cell(html.Th, "why")),
				rows)))).Render(w)
}
