package slurm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModel: a model as topograph 1.0.0 documents it is read, and what is written is read to the same network.
func TestModel(t *testing.T) {
	const text = `switches:
  core:
    labels: {topology.kubernetes.io/region: west}
    switches: [sw1, sw2]
  sw1:
    annotations: {accelerator.topology.test/domain: nvl1}
blocks:
- switch: sw1
  nodes: ["n[01-03,7]"]
- switch: sw2
  nodes: [a, "b[1]"]
  labels: {rack: r2}
  annotations: {accelerator.topology.test/domain: nvl1}
- nodes: [alone]
`
	want := Network{Racks: []Rack{{"sw1", []string{"n01", "n02", "n03", "n7"}}, {"sw2", []string{"a", "b1"}},
		{"block2", []string{"alone"}}}, Circuits: [][2]int{{0, 1}}}
	got, err := ReadModel("m.yaml", []byte(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	var b strings.Builder
	if err := got.WriteModel(&b); err != nil {
		t.Fatal(err)
	}
	again, err := ReadModel("again.yaml", []byte(b.String()))
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("%v %s\n%s", err, diff, &b)
	}
}

// TestModelRules: what topograph 1.0.0 makes of its models. Switches hand their domain down to what is below them,
// blocks can share a switch, and ranges can be all of a name.
func TestModelRules(t *testing.T) {
	const text = `switches:
  S1: {switches: [S2, S3]}
  S2: {switches: [S4, S5], annotations: {accelerator.topology.test/domain: nvl2}}
  S5: {annotations: {accelerator.topology.test/domain: nvl5}}
blocks:
- {switch: S4, nodes: ["I[21-22]", I25]}
- {switch: S5, nodes: ["[1101-1102]"]}
- {switch: S4, nodes: [I26]}
- {switch: S3, nodes: ["I[34-36]"], annotations: {accelerator.topology.test/domain: nvl2}}
- {switch: S4, nodes: [I27], annotations: {accelerator.topology.test/domain: nvl5}}
`
	want := Network{Racks: []Rack{{"S4", []string{"I21", "I22", "I25", "I26"}}, {"S5", []string{"1101", "1102"}},
		{"S3", []string{"I34", "I35", "I36"}}, {"S4-4", []string{"I27"}}}, Circuits: [][2]int{{0, 2}, {1, 3}}}
	got, err := ReadModel("m.yaml", []byte(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// TestModelNames: names that are made up are none that switches or other racks have.
func TestModelNames(t *testing.T) {
	const text = `switches: {S: {}, S-2: {}, block3: {}}
blocks:
- {switch: S-2, nodes: [a]}
- {switch: S, nodes: [b]}
- {switch: S, nodes: [c], annotations: {accelerator.topology.test/domain: d}}
- {nodes: [e]}
- {switch: block3, nodes: [f]}
- {nodes: [g]}
`
	want := []Rack{{"S-2", []string{"a"}}, {"S", []string{"b"}}, {"S-2-2", []string{"c"}}, {"block3-2", []string{"e"}},
		{"block3", []string{"f"}}, {"block5", []string{"g"}}}
	got, err := ReadModel("m.yaml", []byte(text))
	if diff := cmp.Diff(want, got.Racks); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestBadModels(t *testing.T) {
	for text, want := range map[string]string{
		"blocks: []\n":                                         "has no blocks",
		"blocks:\n- {nodes: [a], switch: s}\n":                 `m.yaml:2:3: block 0 is below switch "s", which`,
		"switches: {a: {switches: [b]}, c: {switches: [b]}}\n": `m.yaml:1:11: switch "b" is below "a" and below "c"`,
		"switches: {a: {switches: [b]}, b: {switches: [a]}}\n": `is above itself`,
		"blocks:\n- nodes: []\n":                               "m.yaml:2:",
		"blocks:\n- nodes: [a]\n- nodes: [b, a]\n":             "m.yaml:3:",
		"blocks:\n- nodes: ['n[3-1]']\n":                       `"3-1" in "n[3-1]" is no range`,
		"blocks:\n- nodes: ['n[1-']\n":                         `"n[1-" names no nodes`,
		"blocks:\n- nodes: ['n[0-99999999]']\n":                "is no range",
		"blocks:\n- node: [a]\n":                               "m.yaml:2:",
		"blocks:\n- nodes: ['n[0-60000]', 'm[0-9999]']":        "more than 65536 nodes",
	} {
		if _, err := ReadModel("m.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestLabels: the keys are those of topograph 1.0.0, the lowest tier nearest to the node, and values that are no label
// are hashed as it hashes long ones.
func TestLabels(t *testing.T) {
	n := network(t, "hybrid:racks=3,hosts=1", [2]int{0, 1}, [2]int{1, 0})
	n.Racks[2].Name = "rack/2"
	got := n.Labels()
	want := map[string]map[string]string{
		"h0-0": {"accelerator.topograph.run/domain": "tor0", "fabric.topograph.run/tier-0": "tor0",
			"fabric.topograph.run/tier-1": "circuits-tor0", "fabric.topograph.run/tier-2": "packets"},
		"h1-0": {"accelerator.topograph.run/domain": "tor0", "fabric.topograph.run/tier-0": "tor1",
			"fabric.topograph.run/tier-1": "circuits-tor0", "fabric.topograph.run/tier-2": "packets"},
		"h2-0": {"accelerator.topograph.run/domain": labelValue("rack/2"),
			"fabric.topograph.run/tier-0": labelValue("rack/2"), "fabric.topograph.run/tier-1": "packets"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := labelValue(strings.Repeat("a", 64)); got != "xdb007849f35ebbe5" {
		t.Errorf("a long name: %q", got)
	}
	var b strings.Builder
	if err := n.WriteLabels(&b); err != nil || strings.Count(b.String(), "kind: Node") != 3 {
		t.Errorf("%v %s", err, &b)
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add([]byte("switches: {b: {switches: [a]}}\nblocks:\n- switch: a\n  nodes: ['n[1-2]']\n" +
		"  annotations: {accelerator.topology.test/domain: d}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ReadModel("f", b)
		if err != nil {
			return
		}
		seen, racks := map[string]bool{}, map[string]bool{}
		for _, r := range n.Racks {
			if racks[r.Name] {
				t.Errorf("rack %q is there twice", r.Name)
			}
			racks[r.Name] = true
			for _, node := range r.Nodes {
				if node == "" || seen[node] {
					t.Errorf("node %q is empty or there twice", node)
				}
				seen[node] = true
			}
		}
		n.Groups()
	})
}
