package clab

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/pathmap/topo"
)

func parse(name string, data []byte) ([]Node, error) {
	all, err := topo.LabNodes(name, data)
	return nodesOf(all), err
}

func TestParse(t *testing.T) {
	const text = `
name: lab
topology:
  defaults: {kind: nokia_srlinux}
  groups: {edge: {kind: ceos}}
  nodes:
    leaf1: {}
    leaf2: {group: edge}
    h1: {kind: linux, image: alpine}
    x1: {kind: cisco_xrd}
    x2: {kind: cisco_xrd}
    v1: {kind: vr-veos}
  links: []
`
	nodes, err := parse("lab", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{{"h1", "linux", "host"}, {"leaf1", "nokia_srlinux", "srl-native"},
		{"leaf2", "ceos", "openconfig"},
		{"v1", "vr-veos", ""}, {"x1", "cisco_xrd", ""}, {"x2", "cisco_xrd", ""}}
	if !slices.Equal(nodes, want) {
		t.Errorf("%+v", nodes)
	}
	if err := Check(nodes); !errors.Is(err, ErrForeign) ||
		!strings.Contains(err.Error(), `kind "cisco_xrd" (x1, x2), kind "vr-veos" (v1)`) {
		t.Errorf("%v", err)
	}
	if err := Check(nodes[:3]); err != nil {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "topology: {}", "topology: [", "nodes: {a: {kind: 3}}"} {
		if _, err := parse("bad", []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "bad:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.clab.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if nodes, err := Read(path); err != nil || len(nodes) != 6 || !IsFile(path) || IsFile("x.yaml") {
		t.Errorf("%v, %v", nodes, err)
	}
	if !slices.Contains(Kinds(), "sonic-vs") || !slices.IsSorted(Kinds()) {
		t.Errorf("%v", Kinds())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("topology: {nodes: {a: {kind: linux}}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if nodes, err := parse("fuzz", b); err == nil {
			_ = Check(nodes)
		}
	})
}
