package topo

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/pathmap"
)

// TestHostsPerNode: switches without hosts get some, with names of their own and at the rate of their
// fastest cable; those that have hosts, and the OCS, stay as they are.
func TestHostsPerNode(t *testing.T) {
	const text = `kind: topology
nodes: [{name: Oslo}, {name: Bergen}, {name: lone}, {name: h, role: host}, {name: light, role: ocs}]
links:
  - {ends: [Oslo, Bergen], capacity: 2Gbps}
  - {ends: [Bergen, lone], capacity: 5Gbps}
  - {ends: [lone, h], capacity: 3Gbps}
  - {ends: [lone, light], capacity: 1Gbps}
  - {ends: [Oslo, light], capacity: 1Gbps}
`
	spec, err := ParseSpec("file:lab.yaml,hosts=2")
	if err != nil {
		t.Fatal(err)
	}
	spec.Text = text
	f, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n, node := range f.Topology.Nodes() {
		if node.Role == pathmap.Host {
			l := f.Topology.Link(f.Topology.Out(pathmap.NodeID(n))[0])
			got = append(got, fmt.Sprintf("%s at %s %v", node.Name, f.Topology.Node(l.To).Name, l.Capacity))
		}
	}
	want := "Oslo-h0 at Oslo 2Gbps, Oslo-h1 at Oslo 2Gbps, h at lone 3Gbps, Bergen-h0 at Bergen 5Gbps, " +
		"Bergen-h1 at Bergen 5Gbps"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("hosts are\n%s, want\n%s", s, want)
	}
	if s := f.Spec.String(); s != "file:lab.yaml,dark=10ms,hosts=2" {
		t.Errorf("the spec is %s", s)
	}
	spec.PerNode = 0
	spec.Text = "kind: topology\nnodes: [{name: a}, {name: b}]\nlinks: [{ends: [a, b]}]\n"
	if _, err := New(spec); err == nil || !strings.Contains(err.Error(), "--hosts-per-node 1") {
		t.Errorf("a file without hosts: %v", err)
	}
}

// TestPublicGraphs builds a fabric of every graph of the Topology Zoo and SNDlib, with paths between
// all its nodes and the nodes' own names. The archive is topohub's
// (github.com/piotrjurkiewicz/topohub), where LIGHTLOOM_DATA has it.
func TestPublicGraphs(t *testing.T) {
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		t.Skip("LIGHTLOOM_DATA names no directory of public data")
	}
	file, err := os.Open(filepath.Join(dir, "topologies", "topohub-sndlib26-topozoo-json.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	graphs := 0
	for all := tar.NewReader(zipped); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".json") {
			continue
		}
		text, err := io.ReadAll(all)
		if err != nil {
			t.Fatal(err)
		}
		graphs++
		checkGraph(t, h.Name, text)
	}
	if graphs != 229 {
		t.Errorf("%d graphs, want 203 and 26", graphs)
	}
}

func checkGraph(t *testing.T, name string, text []byte) {
	t.Helper()
	var graph struct {
		Nodes []struct{ Name string }
	}
	if err := json.Unmarshal(text, &graph); err != nil {
		t.Fatal(err)
	}
	f, err := New(Spec{Kind: FileKind, File: name, Text: string(text), PerNode: 1})
	if err != nil {
		t.Error(err)
		return
	}
	if f.Racks != len(graph.Nodes) || f.Hosts() != f.Racks {
		t.Errorf("%s: %d racks of %d hosts, want %d", name, f.Racks, f.Hosts(), len(graph.Nodes))
	}
	times := map[string]int{}
	for _, n := range graph.Nodes {
		times[n.Name]++
	}
	for _, n := range graph.Nodes {
		if _, ok := f.Topology.Named(strings.TrimSpace(n.Name)); !ok && times[n.Name] == 1 &&
			!isNumbered(n.Name) {
			t.Errorf("%s: there is no switch %q", name, n.Name)
		}
	}
	m, err := f.PathMap(2, 1)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for d := range f.Racks {
		if d > 0 && m.Paths(0, d) == 0 {
			t.Errorf("%s: no path from rack 0 to %d", name, d)
		}
	}
}
