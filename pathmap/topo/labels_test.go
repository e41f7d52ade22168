package topo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLabels: numbered nodes are called by their labels, where these are unique.
func TestLabels(t *testing.T) {
	for _, tc := range []struct {
		name, format, text string
		want               []string
	}{
		{"node-link", "json", `{"nodes": [{"id": 0, "name": "ATLAM5"}, {"id": 1, "name": "twice"}, {"id": 2, "name": "twice"},
			{"id": 3}, {"id": "x", "name": "X"}, {"id": 5, "name": "3"}, {"id": 6, "name": " "}],
			"links": [{"source": 0, "target": 1}]}`, []string{"ATLAM5", "1", "2", "3", "x", "5", "6"}},
		{"GraphML", "graphml", `<graphml><key id="d0" for="node" attr.name="label"/><graph><node id="n0"><data key="d0">New
			York</data></node><node id="n1"><data key="d0">Oslo</data></node><edge source="n0" target="n1"/></graph></graphml>`,
			[]string{"n0", "Oslo"}}, // a name of two lines is none
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := FormatNamed(tc.format)
			if err != nil {
				t.Fatal(err)
			}
			top, err := f.Parse("f", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range top.Nodes() {
				got = append(got, n.Name)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
