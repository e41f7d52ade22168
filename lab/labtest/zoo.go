package labtest

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/southbound"
)

// ThereAndBack is a job that sends between the first and the last host of a graph, both ways.
func ThereAndBack(g ZooGraph) []controller.Job {
	last := southbound.HostID(g.Nodes - 1)
	return []controller.Job{{Name: "there and back", Edges: []controller.Edge{{Kind: controller.Fixed,
		Flows: []controller.Flow{{Src: 0, Dst: last, Bytes: 1_000_000},
			{Src: last, Dst: 0, Bytes: 1_000_000}}}}}}
}

// Fabric writes a graph and returns the spec of a fabric of it with a host at each node.
func (g ZooGraph) Fabric(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), g.Name+".json")
	if err := os.WriteFile(file, g.text, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file:" + file + ",hosts=1"
}

// ZooGraph is a graph of a collection of public networks.
type ZooGraph struct {
	Name  string
	Nodes int
	text  []byte
}

// Zoo returns the graphs of a collection (topozoo or sndlib), as topohub
// (github.com/piotrjurkiewicz/topohub) has them, of so many nodes at most, by size.
func Zoo(t *testing.T, dir, collection string, most int) (out []ZooGraph) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "topologies", "topohub-sndlib26-topozoo-json.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for all := tar.NewReader(zipped); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path.Base(path.Dir(h.Name)), collection) || path.Ext(h.Name) != ".json" {
			continue
		}
		g := ZooGraph{Name: strings.TrimSuffix(path.Base(h.Name), ".json")}
		if g.text, err = io.ReadAll(all); err != nil {
			t.Fatal(err)
		}
		var graph struct{ Nodes []any }
		if err := json.Unmarshal(g.text, &graph); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", h.Name, err))
		}
		if g.Nodes = len(graph.Nodes); g.Nodes <= most {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b ZooGraph) int {
		return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Name, b.Name))
	})
	return out
}
