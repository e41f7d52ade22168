package topo

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadSpec(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lab.yaml")
	const text = `# a lab
kind: hybrid
racks: 16   # one ToR each
hosts: "2"
eps: 1Gbps
ocs: 10Gbps
dark: 10ms
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := ParseSpec("hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FromArgument(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got, err := FromArgument("hybrid:racks=16"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := FromArgument(path + ".none.yml"); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadSpec(t.TempDir()); err == nil {
		t.Error("a directory is read")
	}
}

func TestParseYAMLErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "# nothing\n", "f.yaml: empty: write one mapping, beginning with kind: hybrid"},
		{"a list", "- kind\n", "f.yaml:1:1: no mapping: write one mapping, beginning with kind: hybrid"},
		{"two documents", "kind: hybrid\n---\nkind: hybrid\n",
			"f.yaml:3:5: more than one document: write one mapping, " +
				"beginning with kind: hybrid"},
		{"no kind", "racks: 2\n",
			`f.yaml: kind: missing: write kind: one of hybrid, leafspine, crossbar, pod, fattree, jellyfish, file`},
		{"unknown kind", "racks: 2\nkind: hybird\n",
			`f.yaml:2:7: kind: "hybird" is unknown: write "hybrid"? It is one of hybrid, leafspine, crossbar, pod, fattree, ` +
				`jellyfish, file`},
		{"unknown key", "kind: crossbar\nprots: 2\n",
			`f.yaml:2:1: prots: unknown key of a crossbar: write "ports"? It is one of ports, rate, ocses, dark, slots, vcpus`},
		{"zero rate", "kind: hybrid\n\neps: 0bps\n",
			"f.yaml:3:1: eps: a rate of 0bps carries nothing: write a rate above " +
				"zero, such as eps=1Gbps"},
		{"a rate without unit", "kind: hybrid\neps: 10\n",
			`f.yaml:2:1: eps: "10" has no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps, as in 10Gbps`},
		{"ports", "kind: hybrid\nracks: 16\nports: 20\n",
			"f.yaml:3:1: ports: 20 OCS ports for 16 racks: write ports=16 or " +
				"fewer, at least 1"},
		{"a float", "kind: hybrid\nracks: 1.5\n", `f.yaml:2:1: racks: "1.5" is no whole number: write it like racks=16`},
		{"nested", "kind: hybrid\nracks:\n  hosts: 2\n",
			"f.yaml:2:1: racks: the value must be a number or a word, such as " +
				"racks: 16"},
		{"null", "kind: hybrid\nracks:\n", "f.yaml:2:1: racks: the value must be a number or a word, such as racks: 16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseYAML("f.yaml", []byte(c.text)); err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, text, begins string }{
		{"twice", "kind: hybrid\nracks: 2\nracks: 3\n", "f.yaml:3:1: "},
		{"kind twice", "kind: hybrid\nkind: hybrid\n", "f.yaml:2:1: "},
		{"no YAML", "kind: hybrid\n\t racks: [\n", "f.yaml:2:"},
		{"too long", strings.Repeat("# x\n", 20000), "f.yaml: longer than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseYAML("f.yaml", []byte(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.begins) {
				t.Errorf("got %v, want %s…", err, c.begins)
			}
		})
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{"kind: hybrid\nracks: 16\n", "kind: crossbar\nrate: 1Gbps\n",
		"{kind: leafspine, racks: 4}",
		"a: &a [*a]", "---\n---\n", "? x\n: y", "kind: |\n  hybrid\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseYAML("f.yaml", data)
		if err == nil {
			err = s.Check()
			if err != nil || !reflect.DeepEqual(s, s.WithDefaults()) {
				t.Errorf("%q: %+v, %v", data, s, err)
			}
		}
	})
}
