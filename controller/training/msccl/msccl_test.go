package msccl

import (
	"fmt"
	"strings"
	"testing"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// allGather is a ring all-gather of three GPUs, one thread block each.
func allGather() string {
	var b strings.Builder
	b.WriteString("<algo name=\"ag\" nchunksperloop=\"3\" ngpus=\"3\" coll=\"allgather\">\n")
	for g := range 3 {
		fmt.Fprintf(&b, "<gpu id=\"%d\"><tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", g, (g+1)%3, (g+2)%3)
		b.WriteString("<step s=\"0\" type=\"s\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n")
		b.WriteString("<step s=\"1\" type=\"rcs\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n")
		b.WriteString("<step s=\"2\" type=\"r\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n</tb></gpu>\n")
	}
	return b.String() + "</algo>"
}

func TestRead(t *testing.T) {
	a, err := Read("ag.xml", strings.NewReader(allGather()), Options{Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if a.Op != training.AllGather || len(a.Work.Ranks) != 3 {
		t.Fatalf("%v of %d ranks", a.Op, len(a.Work.Ranks))
	}
	var kinds []training.Kind
	for i, n := range a.Work.Ranks[1].Nodes {
		kinds = append(kinds, n.Kind)
		if n.Bytes != 1000 {
			t.Errorf("node %d is about %d bytes, not 1000: each rank contributes as many, one chunk of three", i, n.Bytes)
		}
		if i > 0 && (len(n.After) != 1 || n.After[0] != int32(i-1)) {
			t.Errorf("node %d waits for %v: the steps of a thread block follow each other", i, n.After)
		}
	}
	want := []training.Kind{training.Send, training.Receive, training.Send, training.Receive}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

func TestBadAlgorithm(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"none", allGather(), "", "1: there is no <algo>"},
		{"no such step", `type="rcs"`, `type="rcx"`, `4: there is no step "rcx"`},
		{"no such collective", `coll="allgather"`, `coll="gather"`, `1: coll="gather"`},
		{"a missing gpu", `ngpus="3"`, `ngpus="4"`, "ngpus is 4, and there are 3 <gpu>"},
		{"itself as peer", `send="1"`, `send="0"`, "2: thread block 0 sends to 0"},
		{"no such step to wait for", `depid="-1" deps="-1"`, `depid="3" deps="1"`,
			"3: it waits for step 1 of thread block 3"},
		{"itself", `depid="-1" deps="-1"`, `depid="0" deps="2"`, "it waits for itself"},
		{"a number that is none", `cnt="1"`, `cnt="x"`, `cnt="x" of <step>`},
		{"nobody who receives", `type="r" cnt="1"`, `type="nop" cnt="1"`, "never receives this message"},
		{"torn", "</algo>", "", "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(allGather(), c.from, c.to, 1)
			_, err := Read("ag.xml", strings.NewReader(text), Options{Bytes: 1000})
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), "read algorithm: ag.xml:") {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

// TestTooMuch: sizes are bounded before they are multiplied, which could wrap round to a small one.
func TestTooMuch(t *testing.T) {
	reduce := strings.Replace(allGather(), `coll="allgather"`, `coll="allreduce"`, 1)
	large := strings.ReplaceAll(reduce, `cnt="1"`, `cnt="2147483647"`)
	for _, c := range []struct {
		text, want string
		bytes      pathmap.Bytes
	}{
		{allGather(), "1: 4611686018427387904 bytes of each of 3 GPUs are more than", 1 << 62},
		{reduce, "1: 4611686018427387904 bytes of each of 3 GPUs are more than", 1 << 62},
		{allGather(), "write fewer", 1 << 42},
		{large, "chunks of 1466015503701 bytes are more than", 1 << 42},
	} {
		_, err := Read("x.xml", strings.NewReader(c.text), Options{Bytes: c.bytes})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v does not say %q", err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(allGather())
	f.Add(strings.Replace(allGather(), `depid="-1" deps="-1"`, `depid="0" deps="0"`, 3))
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Read("x", strings.NewReader(text), Options{Bytes: 1 << 20})
		if err == nil && a.Work.Check() != nil {
			t.Error("it reads what does not pass the check")
		}
	})
}
