package conformance_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound/gnmi/conformance"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func sameAsGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%s differs, %v:\n%s", file, err, got)
	}
}

// TestReports: both forms have every finding, and text of a target cannot break out of them.
func TestReports(t *testing.T) {
	all := []conformance.Finding{{Rule: "once", Says: "a", Result: conformance.Held},
		{Rule: "poll", Says: "b", Result: conformance.Broken, Why: `<script>"&`},
		{Rule: "set", Says: "c", Result: conformance.Skipped, Why: "it writes"}}
	about := conformance.About{Target: "a<b", Profile: "ocp", GNMI: "0.10.0", Checker: "v1.2.3",
		Commit: "0123abc"}
	var junit, html bytes.Buffer
	if err := conformance.WriteJUnit(&junit, about, all); err != nil {
		t.Fatal(err)
	}
	var s struct {
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &s); err != nil || s.Failures != 1 || s.Skipped != 1 ||
		len(s.Cases) != 3 ||
		s.Cases[1].Failure.Message != all[1].Why {
		t.Errorf("%+v, %v of\n%s", s, err, &junit)
	}
	if err := conformance.WriteHTML(&html, about, all); err != nil ||
		strings.Contains(html.String(), "<script>") ||
		strings.Count(html.String(), "<tr>") != 4 {
		t.Errorf("%v:\n%s", err, &html)
	}
	sameAsGolden(t, "report.xml", junit.Bytes())
	sameAsGolden(t, "report.html", html.Bytes())
}
