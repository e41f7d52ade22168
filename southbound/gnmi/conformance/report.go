package conformance

import (
	"encoding/xml"
	"html/template"
	"io"
)

// junitSuite is a file of results as JUnit writes them, which continuous integration reads.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
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
func WriteJUnit(w io.Writer, target string, all []Finding) error {
	s := junitSuite{Name: target, Tests: len(all)}
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

const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Target}}</title><style>
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 70em }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #ccc; padding: .3em .8em; text-align: left }
.held { color: #176117 } .broken { color: #a11 } .skipped { color: #666 }
</style></head><body><h1>gNMI conformance of {{.Target}}</h1>
<table><tr><th>rule</th><th>result</th><th>says</th><th>why</th></tr>
{{range .Findings}}<tr><td>{{.Rule}}</td><td class="{{.Result}}">{{.Result}}</td>
<td>{{.Says}}</td><td>{{.Why}}</td></tr>
{{end}}</table></body></html>
`

// WriteHTML writes findings about a target as a page.
func WriteHTML(w io.Writer, target string, all []Finding) error {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		Target   string
		Findings []Finding
	}{target, all})
}
