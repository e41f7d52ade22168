package state

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// twin is Decode as package json alone does it.
func twin(b []byte) (batch []Entry, err error) {
	if err = strict(b, &batch); err == nil {
		return batch, nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(b, &parts) != nil {
		return nil, err
	}
	batch = make([]Entry, len(parts))
	for i, part := range parts {
		if strict(part, &batch[i]) != nil {
			batch[i] = Entry{}
		}
	}
	return batch, err
}

func agrees(t *testing.T, b []byte) {
	t.Helper()
	got, gotErr := Decode(b)
	want, wantErr := twin(b)
	if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
		t.Errorf("%.300q is not read as by package json: %v, %v", b, gotErr, wantErr)
	}
}

// wide is batches with jobs of many flows.
func wide(r *rand.Rand, n int) []Entry {
	flows := make([]controller.Flow, n)
	for i := range flows {
		flows[i] = controller.Flow{Src: southbound.HostID(r.Int32()), Dst: -southbound.HostID(r.Int32N(100)),
			Bytes: pathmap.Bytes(r.Uint64() >> r.IntN(64)), Count: r.Int32N(2)}
	}
	job := &controller.Job{Name: `says ,"flows":[{"src":1`, Edges: []controller.Edge{{Flows: flows}, {From: 1},
		{Flows: flows[:1]}, {Flows: flows[:n/2]}}}
	return []Entry{{Kind: JobAccepted, Job: job, Request: `{"flows":[`}, {Kind: Planned}, {Kind: JobAccepted, Job: job}}
}

// TestFlowsWritten: batches with many flows are written as package json writes them.
func TestFlowsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 153))
	for _, n := range []int{1, 500, 5000} {
		batch := wide(r, n)
		batch[0].Job.Name = string(appendFlow(nil, mark(1))) + "<"
		want, err := Encode(batch)
		if err != nil {
			t.Fatal(err)
		}
		before := batch[0].Job.Edges[0].Flows[0]
		if got, err := EncodeWithin(batch, MaxBatch); err != nil || len(got) != 1 || !bytes.Equal(got[0], want) {
			t.Errorf("%d flows are not written as by package json: %v", n, err)
		}
		if batch[0].Job.Edges[0].Flows[0] != before {
			t.Error("the batch has changed")
		}
	}
}

// TestFlows: batches with many flows are read as package json reads them, in whatever form they are.
func TestFlows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 153))
	b, err := Encode(wide(r, 1000))
	if err != nil {
		t.Fatal(err)
	}
	var read []Entry
	if !decodeFlows(b, &read) {
		t.Fatal("what Encode writes is left to package json")
	}
	agrees(t, b)
	for _, change := range []struct{ old, with string }{
		{`{"src":`, `{ "src":`}, {`"dst":`, `"Dst":`}, {`"bytes":`, `"colour":1,"bytes":`}, {`"src":`, `"src":0`},
		{`"src":`, `"src":9999999999`}, {`"bytes":`, `"bytes":99999999999999999999`}, {`"bytes":`, `"bytes":1.`},
		{`"bytes":`, `"bytes":-`}, {`,"count":1`, `,"count":null`}, {`"flows":[`, `"flows":[],"flows":[`},
		{`"flows":[`, `"flows":[{"src":-2147483648,"dst":0,"bytes":-9223372036854775808}],"flows":[`},
		{`"flows":[`, `"flows":[{"src":-2147483648,"dst":0,"bytes":-9223372036854775808},`},
		{`"flows":[`, `"flows":[,`}, {`}]`, `},]`}, {`"k":1,`, `"flows":[{"src":1,"dst":2,"bytes":3}],"k":1,`},
		{`"edges":`, `"edges":[{"flows":[{"src":1,"dst":2,"bytes":3}]}],"edges":`},
	} {
		for _, n := range []int{1, -1} {
			changed := []byte(strings.Replace(string(b), change.old, change.with, n))
			if bytes.Equal(changed, b) {
				t.Errorf("no %q", change.old)
			}
			agrees(t, changed)
		}
	}
	for range 100 {
		changed := bytes.Clone(b)
		for range 1 + r.IntN(3) {
			changed[r.IntN(len(changed))] = byte(r.IntN(256))
		}
		agrees(t, changed[:len(changed)-r.IntN(2)*r.IntN(len(changed))])
	}
}

func FuzzFlows(f *testing.F) {
	f.Add([]byte(`{"src":1,"dst":2,"bytes":3,"count":4},{"src":-1,"dst":0,"bytes":9}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		flows, n := readFlows(b)
		if n == 0 {
			return
		}
		var want []controller.Flow
		if err := strict(append([]byte("["), b[:n+1]...), &want); err != nil || !reflect.DeepEqual(flows, want) {
			t.Errorf("%q is read as %v, not as %v, %v", b[:n], flows, want, err)
		}
	})
}

func BenchmarkDecodeFlows(b *testing.B) {
	batch, err := Encode(wide(rand.New(rand.NewPCG(1, 153)), 1<<16))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(batch)))
	for b.Loop() {
		if _, err := Decode(batch); err != nil {
			b.Fatal(err)
		}
	}
}
