package report

import (
	"regexp"
	"strings"
	"testing"
)

// TestMarks: each mark of the page leads to a remark on its own column, and each remark on a line of the table
// has a mark there.
func TestMarks(t *testing.T) {
	r := sample(1)
	r.Policies[1].Health = &Health{Expected: .2, StolenCores: 1, Probe: .2}
	r.Policies[1].Notes = []string{"a note of its own"}
	b, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	links := regexp.MustCompile(`href="#((?:mind|loss)-\d+)"`).FindAllStringSubmatch(page, -1)
	for _, l := range links {
		if strings.Count(page, `id="`+l[1]+`"`) != 1 {
			t.Errorf("a mark leads to %s, which is not there once", l[1])
		}
	}
	p := r.page()
	for i, x := range p.Mind {
		for _, name := range x.lines {
			found := false
			for _, l := range p.Lines {
				if l.Name == name {
					for _, at := range l.Cells[x.policy].Mind {
						found = found || at == i
					}
				}
			}
			if !found {
				t.Errorf("no cell leads to %q", x.text)
			}
		}
	}
	for _, want := range []string{"its mean CCT may be off by 20 %", "others used 1.0 of this machine",
		"a note of its own"} {
		if strings.Count(page, want) < 2 { // in the list, and as the title of its mark
			t.Errorf("the page has %d times %q", strings.Count(page, want), want)
		}
	}
	if strings.Contains(page, "(!)") {
		t.Error("a mark without a link")
	}
}

// TestShownAs: figures are found in the table by the names that remarks have for them.
func TestShownAs(t *testing.T) {
	all := map[string]bool{}
	for _, l := range (&Report{}).lines() {
		all[l.name] = true
	}
	for _, f := range figures() {
		if !all[shownAs(f.name)] {
			t.Errorf("%q is no line of the table", shownAs(f.name))
		}
	}
}
