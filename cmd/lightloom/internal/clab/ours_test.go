package clab

import "testing"

// TestOwnExport: a topology that we wrote says what its nodes are.
func TestOwnExport(t *testing.T) {
	nodes, err := parse("f", []byte("topology:\n  defaults: {kind: linux}\n  nodes:\n"+
		"    a: {labels: {lightloom-role: tor}}\n    b: {labels: {lightloom-role: ocs}}\n"+
		"    c: {labels: {lightloom-role: host}}\n    d: {labels: {other: [1]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"openconfig", "ocp", "host", "host"} {
		if nodes[i].As != want {
			t.Errorf("%s runs as %q, want %q", nodes[i].Name, nodes[i].As, want)
		}
	}
}
