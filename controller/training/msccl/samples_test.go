package msccl

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/training"
	"lightloom/controller/training/chakra"
)

// samples returns the files of ASTRA-sim's examples by name.
func samples(t *testing.T) map[string][]byte {
	t.Helper()
	data := os.Getenv("LIGHTLOOM_DATA")
	file, err := os.Open(filepath.Join(data, "collectives", "astra-sim-examples-data.tar.gz"))
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "data") {
			t.Fatal(err)
		}
		t.Skip("needs data: LIGHTLOOM_DATA names no folder with collectives/astra-sim-examples-data.tar.gz")
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// trace reads the traces of a prefix.
func trace(t *testing.T, files map[string][]byte, prefix string) *training.Workload {
	t.Helper()
	var sources []chakra.Source
	for r := 0; ; r++ {
		name := fmt.Sprintf("%s.%d.et", prefix, r)
		text, ok := files[name]
		if !ok {
			break
		}
		sources = append(sources, chakra.Source{Name: name, Text: bytes.NewReader(text)})
	}
	w, err := chakra.Read(prefix, sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSamples reads all traces of ASTRA-sim's examples; what its converter made of an algorithm in XML is what Read
// makes of it.
func TestSamples(t *testing.T) {
	files := samples(t)
	sets := 0
	for name := range files {
		prefix, ok := strings.CutSuffix(name, ".0.et")
		if !ok {
			continue
		}
		sets++
		w := trace(t, files, prefix)
		text, ok := files[prefix+".xml"]
		if !ok {
			if n := w.Ranks[0].Nodes[0]; len(w.Ranks[0].Nodes) != 1 || n.Kind != training.Collective || n.Bytes != 1<<20 {
				t.Errorf("%s: %+v", path.Base(prefix), n)
			}
			continue
		}
		a, err := Read(prefix+".xml", bytes.NewReader(text), Options{Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, a.Work, w)
	}
	if sets != 13 {
		t.Errorf("%d sets of traces", sets)
	}
}

// compare compares who sends what to whom.
func compare(t *testing.T, got, want *training.Workload) {
	t.Helper()
	for r := range want.Ranks {
		a, b := got.Ranks[r].Nodes, want.Ranks[r].Nodes
		if len(a) != len(b) {
			t.Fatalf("rank %d: %d nodes, want %d", r, len(a), len(b))
		}
		for i := range b {
			same := cmp.Compare(a[i].Kind, b[i].Kind) == 0 && a[i].Peer == b[i].Peer &&
				(a[i].Bytes == b[i].Bytes || a[i].Kind == training.Compute) && slices.Equal(a[i].After, b[i].After)
			if !same {
				t.Fatalf("rank %d, node %d: %+v, want %+v", r, i, a[i], b[i])
			}
		}
	}
}
