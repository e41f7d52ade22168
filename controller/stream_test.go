package controller_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

func stages(sizes ...int) []controller.Stage {
	var out []controller.Stage
	for _, n := range sizes {
		out = append(out, controller.Stage{Tasks: make([]controller.Task, n)})
	}
	return out
}

func stream(from, to int) controller.Edge {
	return controller.Edge{Kind: controller.ScatterGather, From: from, To: to, Bytes: 100, Stream: true}
}

func barrier(from, to int) controller.Edge {
	return controller.Edge{Kind: controller.ScatterGather, From: from, To: to, Bytes: 100}
}

// TestCheckStreams: circles are fine in a stream that has a source and a sink, and nowhere else.
func TestCheckStreams(t *testing.T) {
	busy := stages(1, 1)
	busy[1].Tasks[0].Compute = time.Second
	for _, tc := range []struct {
		name   string
		stages []controller.Stage
		edges  []controller.Edge
		want   string // "" for fine
	}{
		{"spout, bolts in a circle, sink", stages(1, 2, 2, 1),
			[]controller.Edge{stream(0, 1), stream(1, 2), stream(2, 1),
				stream(2, 3)}, ""},
		{"a bolt that sends to itself", stages(1, 2), []controller.Edge{stream(0, 1), stream(1, 1)}, ""},
		{"batch, stream, batch", stages(1, 1, 1, 1),
			[]controller.Edge{barrier(0, 1), stream(1, 2), barrier(2, 3)}, ""},
		{"no sink", stages(1, 1, 1), []controller.Edge{stream(0, 1), stream(1, 2), stream(2, 1)}, `stage 0 ("") has no sink`},
		{"no source", stages(1, 1, 1), []controller.Edge{stream(0, 1), stream(1, 0), stream(1, 2)},
			`stage 0 ("") has no source`},
		{"one circle is all", stages(1, 1), []controller.Edge{stream(0, 1), stream(1, 0)}, "has no source"},
		{"barrier within a pipeline", stages(1, 1), []controller.Edge{stream(0, 1), barrier(0, 1)},
			"streams have them run together"},
		{"pipelines wait for each other", stages(1, 1, 1, 1),
			[]controller.Edge{stream(0, 1), stream(2, 3), barrier(0, 2),
				barrier(3, 1)}, "in a circle"},
		{"batch in a circle", stages(1, 1), []controller.Edge{barrier(0, 1), barrier(1, 0)}, "in a circle"},
		{"batch to itself", stages(1), []controller.Edge{barrier(0, 0)}, "only a stream may"},
		{"computing beside streams", busy, []controller.Edge{stream(0, 1)}, "streams hold their tasks"},
		{"fixed stream", nil, []controller.Edge{{Kind: controller.Fixed, Stream: true}}, "fixed flows"},
		{"keys without fields", stages(1, 1), []controller.Edge{{Kind: controller.Global, To: 1,
			Keys: 5}}, "has 5 keys"},
		{"too many keys", stages(1, 1), []controller.Edge{{Kind: controller.Fields, To: 1,
			Keys: controller.MaxKeys + 1}},
			"keys; take up to"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := controller.Job{Name: "x", Stages: tc.stages, Edges: tc.edges}
			err := j.Check(8, 64)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestGroupings: by hand, two senders on hosts 0 and 1, three receivers on 2, 3 and 4.
func TestGroupings(t *testing.T) {
	hosts := []southbound.HostID{0, 1, 2, 3, 4}
	for _, tc := range []struct {
		kind  controller.EdgeKind
		bytes pathmap.Bytes
		want  map[[2]southbound.HostID]pathmap.Bytes
	}{
		{controller.ScatterGather, 12, map[[2]southbound.HostID]pathmap.Bytes{{0, 2}: 2, {0, 3}: 2,
			{0, 4}: 2, {1, 2}: 2,
			{1, 3}: 2, {1, 4}: 2}},
		{controller.Broadcast, 12, map[[2]southbound.HostID]pathmap.Bytes{{0, 2}: 6, {0, 3}: 6,
			{0, 4}: 6, {1, 2}: 6,
			{1, 3}: 6, {1, 4}: 6}},
		{controller.Global, 13, map[[2]southbound.HostID]pathmap.Bytes{{0, 2}: 7, {1, 2}: 6}},
	} {
		j := controller.Job{Stages: stages(2, 3),
			Edges: []controller.Edge{{Kind: tc.kind, To: 1, Bytes: tc.bytes, Stream: true}}}
		c := controller.Expand(&j, &j.Edges[0], hosts)
		if len(c.Src) != len(tc.want) {
			t.Errorf("%v: %d host flows, want %d", tc.kind, len(c.Src), len(tc.want))
		}
		for r := range c.Src {
			if want := tc.want[[2]southbound.HostID{c.Src[r], c.Dst[r]}]; c.Size[r] != want {
				t.Errorf("%v: %d→%d has %d bytes, want %d", tc.kind, c.Src[r], c.Dst[r], c.Size[r], want)
			}
		}
	}
}

// TestFields: no byte is lost whatever the numbers, each sender splits alike, few keys leave some
// receivers with nothing and many keys make all nearly even.
func TestFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		from, to := 1+rng.IntN(4), 1+rng.IntN(5)
		hosts := make([]southbound.HostID, from+to)
		for i := range hosts {
			hosts[i] = southbound.HostID(i)
		}
		e := controller.Edge{Kind: controller.Fields, To: 1,
			Bytes: pathmap.Bytes(rng.Int64N(int64(controller.MaxBytes))),
			Keys:  int32(rng.IntN(50))}
		j := controller.Job{Stages: stages(from, to), Edges: []controller.Edge{e}}
		sum := pathmap.Bytes(0)
		for _, b := range controller.Expand(&j, &j.Edges[0], hosts).Size {
			sum += b
		}
		if sum != e.Bytes {
			t.Fatalf("%d bytes of %d with %d keys, %d to %d", sum, e.Bytes, e.Keys, from, to)
		}
	}
	receivers := func(keys int32) (least, most pathmap.Bytes, n int) {
		j := controller.Job{Stages: stages(1, 8),
			Edges: []controller.Edge{{Kind: controller.Fields, To: 1, Bytes: 8e6, Keys: keys}}}
		c := controller.Expand(&j, &j.Edges[0], []southbound.HostID{0, 1, 2, 3, 4, 5, 6, 7, 8})
		least = 8e6
		for _, b := range c.Size {
			least, most = min(least, b), max(most, b)
		}
		return least, most, len(c.Size)
	}
	if _, most, n := receivers(1); n != 1 || most != 8e6 {
		t.Errorf("one key: %d receivers, %d bytes", n, most)
	}
	if least, most, n := receivers(controller.MaxKeys); n != 8 || least < 0.97e6 || most > 1.03e6 {
		t.Errorf("many keys: %d receivers with %d to %d bytes", n, least, most)
	}
}
