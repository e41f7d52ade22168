package topo

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// endless repeats a text after a beginning, left bytes in all. A longer unit is copied faster.
type endless struct {
	head, unit string
	left       int
	at         int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) && e.left > 0 {
		if e.head != "" {
			k := copy(p[n:], e.head)
			n, e.head, e.left = n+k, e.head[k:], e.left-k
			continue
		}
		k := copy(p[n:min(len(p), n+e.left)], e.unit[e.at:])
		n, e.at, e.left = n+k, (e.at+k)%len(e.unit), e.left-k
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// samples are the formats, each in a line.
func samples() map[string]string {
	return map[string]string{
		"clab": "topology: {nodes: {a: {kind: linux}, b: {kind: ceos}}, links: [{endpoints: [\"a:eth1\", \"b:eth1\"]}]}\n",
		"yaml": "kind: topology\nnodes: [{name: a}, {name: b}]\nlinks: [{ends: [a, b], capacity: 1Gbps}]\n",
		"json": `{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "capacity": "1Gbps"}]}`,
		"graphml": `<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" ` +
			`target="b"/></graph></graphml>`,
		"dot": `graph { a -- b [capacity="1Gbps"] }`,
	}
}

// TestBadInput: whatever a file holds in place of a topology, there is one error that names the file, and little memory
// is taken.
func TestBadInput(t *testing.T) {
	const long = 100 << 20
	line := func(unit string) io.Reader { return &endless{unit: strings.Repeat(unit, 1<<12), left: long} }
	for _, f := range Formats() {
		sample := samples()[f.Name]
		if _, err := f.Parse("f", []byte(sample)); err != nil {
			t.Fatal(err)
		}
		inputs := map[string]io.Reader{
			"nothing": strings.NewReader(""), "blanks": strings.NewReader(" \n\n"),
			"a cut":            strings.NewReader(sample[:len(sample)*2/3]),
			"a line of a":      line("a"),
			"a line of blanks": line(" "),
			"a line of 1":      line("1"),
			"a line of [":      line("["),
			"a line of <a>":    line("<a>"),
			"a line of {a:":    line(`{"a":`),
			"a line in a word": &endless{head: strings.Replace(sample, "a", "aa",
				1)[:strings.Index(sample, "a")+1], unit: strings.Repeat("a", 1<<12),
				left: long},
			"depth of lists":     strings.NewReader(strings.Repeat("[", 10_000)),
			"depth of objects":   strings.NewReader(strings.Repeat(`{"nodes":`, 10_000)),
			"depth of dashes":    strings.NewReader(strings.Repeat("- ", 10_000)),
			"depth of nodes":     strings.NewReader(`{"nodes": [{"id": ` + strings.Repeat("[", 10_000)),
			"depth of subgraphs": strings.NewReader("graph " + strings.Repeat("{", 10_000)),
			"depth of elements":  strings.NewReader("<graphml>" + strings.Repeat("<a>", 10_000)),
			"depth by indent":    strings.NewReader(indented(2_000)),
			"a long name": strings.NewReader(strings.ReplaceAll(strings.ReplaceAll(sample, "{a:",
				"{"+strings.Repeat("n", 1<<16)+
					":"), "a", strings.Repeat("n", 1<<16))),
			"a number beyond": strings.NewReader(strings.Replace(sample, "1Gbps",
				"1"+strings.Repeat("0", 400), 1) + "\x00"),
		}
		for other, text := range samples() {
			if other != f.Name && !(other == "clab" && f.Name == "yaml") {
				inputs["the format "+other] = strings.NewReader(text)
			}
		}
		for name, in := range inputs {
			t.Run(f.Name+", "+name, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := f.from("f", in)
				runtime.ReadMemStats(&after)
				if err == nil || !strings.HasPrefix(err.Error(), "f:") || strings.Count(err.Error(), "\n") > 0 ||
					len(err.Error()) > 1000 {
					t.Errorf("%.300v", err)
				}
				if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
					t.Errorf("%d MB are taken", took>>20)
				}
			})
		}
	}
}

// indented nests mappings by indentation.
func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}
