package topo

import (
	"fmt"
	"strings"
	"testing"

	"lightloom/pathmap/plaintext"
)

// ringYAML is a ring of n nodes as our YAML, indented as given.
func ringYAML(n int, indent string) string {
	var b strings.Builder
	b.WriteString("# a ring\nkind: topology\nlinks: # in lines\n")
	for i := range n {
		fmt.Fprintf(&b, "%s- {ends: [n%d, n%d], capacity: 1Gbps}\n", indent, i, (i+1)%n)
		if i%1000 == 0 {
			b.WriteString("\n# a comment\n")
		}
	}
	b.WriteString("capacity: 2Gbps\nnodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "%s- name: n%d\n%s  role: switch\n", indent, i, indent)
	}
	return b.String()
}

// ringClab is the same as containerlab's. A group is called nodes, which is no list of them.
func ringClab(n int) string {
	var b strings.Builder
	b.WriteString("name: ring\ntopology:\n  groups:\n    nodes:\n      kind: nokia_srlinux\n  nodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "    n%d:\n      group: nodes\n", i)
	}
	b.WriteString("  links:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - endpoints: [\"n%d:e1\", \"n%d:e2\"]\n", i, (i+1)%n)
	}
	return b.String()
}

// TestPieces: a large file is read in pieces, and means the same as when all of it is parsed at once, which an anchor
// that nobody uses asks for.
func TestPieces(t *testing.T) {
	const n = 2500
	anchored := strings.NewReplacer("capacity: 2Gbps", "capacity: &a 2Gbps", "name: ring", "name: &a ring")
	for name, c := range map[string]struct{ format, text string }{
		"ours":               {"yaml", ringYAML(n, "  ")},
		"ours, not indented": {"yaml", ringYAML(n, "")},
		"lines end in CRLF":  {"yaml", strings.ReplaceAll(ringYAML(n, "  "), "\n", "\r\n")},
		"containerlab":       {"clab", ringClab(n)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, bodies := plaintext.CutBodies([]byte(c.text), "topology", "nodes", "links"); len(bodies) != 2 {
				t.Fatalf("%d bodies are cut out, where nodes and links are", len(bodies))
			}
			f, err := FormatNamed(c.format)
			if err != nil {
				t.Fatal(err)
			}
			pieces, err := f.Parse("f", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			whole, err := f.Parse("f", []byte(anchored.Replace(c.text)))
			if err != nil {
				t.Fatal(err)
			}
			if err := same(whole, pieces); err != nil {
				t.Error(err)
			}
			if got := pieces.Nodes(); len(got) != n || got[0].Role != whole.Nodes()[0].Role {
				t.Errorf("%d nodes, the first %v", len(got), got[0])
			}
		})
	}
}

// TestPiecesPlace: what is wrong in a piece has its line in the file, and ends the reading there.
func TestPiecesPlace(t *testing.T) {
	text := ringYAML(4000, "  ")
	at := strings.Index(text, "{ends: [n3000,")
	line := 1 + strings.Count(text[:at], "\n")
	for name, c := range map[string][2]string{
		"a wrong key":   {"{ends: [n3000,", "{ents: [n3000,"},
		"a wrong rate":  {"n3000, n3001], capacity: 1Gbps", "n3000, n3001], capacity: 1Gzps"},
		"broken syntax": {"n3000, n3001]", "n3000: n3001: ]"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := strings.Replace(text, c[0], c[1], 1)
			f, err := FormatNamed("yaml")
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Parse("f", []byte(wrong))
			if want := fmt.Sprintf("f:%d:", line); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, and not at %s", err, want)
			}
		})
	}
}

// TestNoTopology: what is large and no topology is refused before it is parsed, whose tree would take gigabytes.
func TestNoTopology(t *testing.T) {
	beyond := func(line string) string { return strings.Repeat(line, 1100000/len(line)) } // 1 MiB is the most
	for name, text := range map[string]string{
		"a list":             beyond("- a: {b: c, d: [e, f]}\n"),
		"a mapping":          beyond("x: {b: c, d: [e, f]}\n"),
		"one mapping":        "{" + beyond("x: {b: c},\n") + "}",
		"a graph by aliases": "kind: topology\nnodes:\n" + beyond("- &a {name: a}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"yaml", "clab"} {
				f, err := FormatNamed(format)
				if err != nil {
					t.Fatal(err)
				}
				allocated := testing.AllocsPerRun(1, func() { _, err = f.Parse("f", []byte(text)) })
				if err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes beside nodes and links") {
					t.Errorf("%s: %v", format, err)
				}
				if allocated > 10_000 {
					t.Errorf("%s: %v allocations: it was parsed", format, allocated)
				}
			}
		})
	}
}
