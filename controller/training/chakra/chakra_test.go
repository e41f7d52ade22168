package chakra

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"lightloom/controller/training"
)

// job is a workload with a node of each kind, on four ranks.
func job() *training.Workload {
	w := training.NewWorkload("job", 4)
	w.Groups = append(w.Groups, training.Group{Name: "low", Ranks: []int32{1, 0}},
		training.Group{Name: "high", Ranks: []int32{2, 3}})
	for r := range 4 {
		g := int32(1 + r/2)
		a := w.Add(r, training.Node{Name: "load", Kind: training.Nothing})
		b := w.Add(r, training.Node{Name: "forward", Kind: training.Compute, Duration: time.Millisecond, After: []int32{a}})
		c := w.Add(r, training.Node{Name: "TP sum", Kind: training.Collective, Op: training.AllReduce, Bytes: 1 << 20,
			Group: g, After: []int32{b}, Phase: training.TensorParallel})
		peer := training.Node{Name: "PP out", Kind: training.Send, Peer: int32(r + 2), Bytes: 4096, Tag: 7, After: []int32{c},
			Phase: training.PipelineParallel}
		if r >= 2 {
			peer.Kind, peer.Peer = training.Receive, int32(r-2)
		}
		d := w.Add(r, peer)
		w.Add(r, training.Node{Name: "DP sum", Kind: training.Collective, Op: training.AllGather, Bytes: 10,
			After: []int32{a, d}, Phase: training.DataParallel})
	}
	return w
}

// write returns the files of a workload.
func write(t testing.TB, w *training.Workload) []Source {
	t.Helper()
	var out []Source
	for r := range w.Ranks {
		var b bytes.Buffer
		if err := Write(&b, w, r); err != nil {
			t.Fatal(err)
		}
		out = append(out, Source{fmt.Sprintf("job.%d.et", r), &b})
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	want := job()
	got, err := Read("job", write(t, want), GroupsOf(want))
	if err != nil {
		t.Fatal(err)
	}
	for r := range want.Ranks {
		if a, b := fmt.Sprint(got.Ranks[r].Nodes), fmt.Sprint(want.Ranks[r].Nodes); a != b {
			t.Errorf("rank %d: %s, want %s", r, a, b)
		}
	}
	if a, b := fmt.Sprint(got.Groups[1].Ranks, got.Groups[2].Ranks), "[1 0] [2 3]"; a != b {
		t.Errorf("communicators are %s, want %s", a, b)
	}
}

// TestBadTrace: each is one error that names file, node and rank.
func TestBadTrace(t *testing.T) {
	for _, c := range []struct {
		name string
		mend func(*training.Workload)
		want string
	}{
		{"cycle", func(w *training.Workload) { w.Ranks[2].Nodes[1].After = []int32{4} },
			`job.2.et: node 1 ("forward") of rank 2: it waits for itself, through 4 nodes`},
		{"never joined", func(w *training.Workload) { w.Ranks[3].Nodes = w.Ranks[3].Nodes[:4] },
			`job.0.et: node 4 ("DP sum") of rank 0: rank 3 never joins this all-gather of communicator "world"`},
		{"size 0", func(w *training.Workload) { w.Ranks[1].Nodes[2].Bytes = 0 },
			`job.1.et: node 2 ("TP sum") of rank 1: comm_size is 0`},
		{"10 TB", func(w *training.Workload) { w.Ranks[1].Nodes[2].Bytes = 10e12 },
			`job.1.et: node 2 ("TP sum") of rank 1: comm_size is 10000000000000 bytes, and at most`},
		{"other sizes", func(w *training.Workload) { w.Ranks[1].Nodes[2].Bytes = 5 }, "joins it with"},
		{"not a member", func(w *training.Workload) { w.Ranks[2].Nodes[2].Group = 1 },
			`job.2.et: node 2 ("TP sum") of rank 2: its rank is no member of communicator "1"`},
		{"no such rank", func(w *training.Workload) { w.Ranks[0].Nodes[3].Peer = 9 },
			`job.0.et: node 3 ("PP out") of rank 0: its comm_dst is rank 9, which has no trace`},
		{"never received", func(w *training.Workload) { w.Ranks[0].Nodes[3].Tag = 8 },
			`job.0.et: node 3 ("PP out") of rank 0: rank 2 never receives this message with tag 8`},
		{"one id twice", func(w *training.Workload) { w.Ranks[0].Nodes[3].ID = 2 }, "job.0.et: two nodes have the id 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := job()
			c.mend(w)
			_, err := Read("job", write(t, w), GroupsOf(w))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

// raw returns a file of a version and nodes that are given as bytes.
func raw(version string, nodes ...[]byte) Source {
	var b bytes.Buffer
	_ = writeMessage(&b, stringField(nil, metadataVersion, version))
	for _, n := range nodes {
		_ = writeMessage(&b, n)
	}
	return Source{"raw.0.et", &b}
}

func TestBadFile(t *testing.T) {
	node := func(kind uint64, more ...byte) []byte {
		return append(varintField(varintField(nil, nodeID, 3), nodeType, kind), more...)
	}
	dep := protowire.AppendBytes(protowire.AppendTag(nil, nodeData, protowire.BytesType), []byte{9})
	for _, c := range []struct {
		name string
		file Source
		want string
	}{
		{"newer", raw("1.2.0"), `raw.0.et: its schema is "1.2.0", and schemas to 1.0.0 are read`},
		{"newer, converted", raw("1.1.1-chakra.2.0"), `its schema is "1.1.1-chakra.2.0"`},
		{"no version", raw("new"), `its schema is "new", which is no version`},
		{"unknown type", raw("1.0.0", node(12)), `raw.0.et: node 3 ("") of rank 0: its type is 12`},
		{"memory", raw("0.0.4", node(typeMemLoad)), "remote memory"},
		{"reduce", raw("1.0.0", node(typeCollective, intAttribute(nil, "comm_type", 1)...)), "its comm_type is 1"},
		{"no kind", raw("1.0.0", node(typeCollective)), "it has no comm_type"},
		{"unknown communicator", raw("1.0.0", node(typeCollective, textAttribute(intAttribute(nil, "comm_type", 0), "pg_name",
			"5")...)), `nothing tells the ranks of its communicator "5"`},
		{"no peer", raw("1.0.0", node(typeSend)), "it has no comm_dst"},
		{"missing node", raw("1.0.0", node(typeCompute, dep...)), "it waits for node 9, which the file does not have"},
		{"empty", Source{"raw.0.et", strings.NewReader("")}, "raw.0.et: the file is empty"},
		{"torn", Source{"raw.0.et", strings.NewReader("\x05abc")}, "the file ends after 3 of its 5 bytes"},
		{"text", Source{"raw.0.et", strings.NewReader("\x0chello, there")}, "is this a Chakra trace"},
		{"long", Source{"raw.0.et", strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\x7f")}, "is this a Chakra trace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("raw", []Source{c.file}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

// TestMostMemory: the nodes of all ranks together are bounded, also those that take no room in a file.
func TestMostMemory(t *testing.T) {
	sources := func() []Source {
		var out []Source
		for r := range 3 {
			s := raw("1.0.0", nil)
			s.Name = fmt.Sprintf("raw.%d.et", r)
			out = append(out, s)
		}
		return out
	}
	if _, err := read("raw", sources(), nil, 3*nodeMemory); err != nil {
		t.Error(err)
	}
	_, err := read("raw", sources(), nil, 3*nodeMemory-1)
	if err == nil || !strings.Contains(err.Error(), "raw.2.et: message 1: this rank and those before it have more nodes") {
		t.Error(err)
	}
}

// TestProcessGroups reads the communicators that PyTorch's observer writes into a metadata node.
func TestProcessGroups(t *testing.T) {
	text := `["[{\"pg_name\": \"7\", \"ranks\": [0]}, {\"pg_name\": \"8\", \"ranks\": []}]"]`
	in := stringField(nil, inputValues, text)
	meta := protowire.AppendBytes(protowire.AppendTag(varintField(nil, nodeType, typeMetadata), nodeInputs,
		protowire.BytesType), in)
	w, err := Read("raw", []Source{raw("1.1.1-chakra.1.0.0", meta)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Groups) != 3 || w.Groups[1].Name != "7" || len(w.Groups[2].Ranks) != 1 {
		t.Errorf("%+v", w.Groups)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	w := job()
	for r, s := range write(t, w) {
		text := s.Text.(*bytes.Buffer).Bytes()
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("job.%d.et", r)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "job"), filepath.Join(dir, "job.2.et")} {
		if got, err := Open(path, GroupsOf(w)); err != nil || len(got.Ranks) != 4 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "job.1.et")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "job.1.et is missing",
		filepath.Join(dir, "none"): "file does not exist"} {
		if _, err := Open(path, GroupsOf(w)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", path, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range write(f, job()) {
		f.Add(s.Text.(*bytes.Buffer).Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := Read("x", []Source{{"x.0.et", bytes.NewReader(text)}}, nil)
		if err == nil && w.Check() != nil {
			t.Error("it reads what does not pass the check")
		}
	})
}

func FuzzReadGroups(f *testing.F) {
	f.Add([]byte(`{"1": [0, 1]}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = ReadGroups("x", text) })
}
